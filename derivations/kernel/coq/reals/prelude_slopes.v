(* The prelude of files about derivatives: the derivative of a function over Coq's real numbers, as Coquelicot defines it, in MathComp's
   notation. Once the derivatives are computed, `entrywise` of the general prelude finishes a proof.

   Everything here is proved and rests only on the axioms of Coq's real numbers and the axiom of choice that MathComp uses for them. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import Rstruct.
From Derivations Require Export Prelude.
Set Implicit Arguments.
Unset Strict Implicit.
Delimit Scope R_scope with coqR.
Local Open Scope ring_scope.

Definition reals : rcfType := R_rcfType.
Notation R := reals.
Definition exp : R -> R := Rtrigo_def.exp.
Definition ln : R -> R := Rpower.ln.

(* The function f has the derivative v at x. *)
Definition is_slope (f : R -> R) (x v : R) : Prop := @is_derive R_AbsRing R_NormedModule f x v.
(* The derivative exists. *)
Definition has_slope (f : R -> R) (x : R) : Prop := exists v, is_slope f x v.
(* The derivative of f at x, if it exists *)
Definition slope (f : R -> R) (x : R) : R := Derive f x.

(* The matrix A with t at the place i, j *)
Definition marked m n (A : 'M[R]_(m, n)) i j (t : R) : 'M[R]_(m, n) := \matrix_(k, l) if (k == i) && (l == j) then t else A k l.

Lemma exp_of_sum x y : exp (x + y) = exp x * exp y. Proof. exact: (esym (expRD x y)). Qed.
Lemma exp_above_zero x : 0 < exp x. Proof. by apply/RltP; apply: exp_pos. Qed.
Lemma exp_rises x y : x <= y -> exp x <= exp y.
Proof.
move=> /RleP xy; apply/RleP; case: xy => [xy | ->]; last by apply: Rle_refl.
by apply: Rlt_le; apply: exp_increasing.
Qed.

Lemma exp_exceeds (x : R) : 0 < x -> x < exp x.
Proof.
move=> /RltP x0; apply/RltP; apply: (Rlt_trans _ (1 + x)%coqR); first by rewrite Rplus_comm; apply: Rlt_plus_1.
exact: (exp_ineq1 x (Rgt_not_eq _ _ x0)).
Qed.
Lemma norm_of_real (x : R) : Rabs x = `|x|. Proof. by []. Qed.

(* ---- Rules of differentiation ---- *)

Lemma slope_value f x v : is_slope f x v -> slope f x = v. Proof. exact: is_derive_unique. Qed.
Lemma slope_exists f x v : is_slope f x v -> has_slope f x. Proof. by exists v. Qed.
Lemma slope_as f x v w : is_slope f x v -> v = w -> is_slope f x w. Proof. by move=> ? <-. Qed.
Lemma slope_ext f g x v : (forall t, f t = g t) -> is_slope g x v -> is_slope f x v.
Proof. by move=> fg; apply: is_derive_ext => t; rewrite fg. Qed.
Lemma slope_const (c : R) x : is_slope (fun _ => c) x 0. Proof. exact: is_derive_const. Qed.
Lemma slope_id x : is_slope (fun t => t) x 1. Proof. exact: is_derive_id. Qed.

Lemma slope_add_two f g (x a b : R) : is_slope f x a -> is_slope g x b -> is_slope (fun t => f t + g t) x (a + b).
Proof. exact: (is_derive_plus f g). Qed.
Lemma slope_mul_two f g (x a b : R) : is_slope f x a -> is_slope g x b -> is_slope (fun t => f t * g t) x (a * g x + f x * b).
Proof. by move=> fa gb; apply: (is_derive_mult f g) => // ? ?; apply: Rmult_comm. Qed.

Section Operations.
Variables (f : R -> R) (x a : R).
Hypothesis fa : is_slope f x a.
Lemma slope_opp : is_slope (fun t => - f t) x (- a). Proof. exact: (is_derive_opp f). Qed.
(* If one operand is constant *)
Lemma slope_add_const (c : R) : is_slope (fun t => f t + c) x a.
Proof. by apply: slope_as (slope_add_two fa (slope_const c x)) _; rewrite addr0. Qed.
Lemma slope_const_add (c : R) : is_slope (fun t => c + f t) x a.
Proof. by apply: slope_as (slope_add_two (slope_const c x) fa) _; rewrite add0r. Qed.
Lemma slope_mul_const (c : R) : is_slope (fun t => f t * c) x (a * c).
Proof. by apply: slope_as (slope_mul_two fa (slope_const c x)) _; rewrite mulr0 addr0. Qed.
Lemma slope_const_mul (c : R) : is_slope (fun t => c * f t) x (c * a).
Proof. by apply: slope_as (slope_mul_two (slope_const c x) fa) _; rewrite mul0r add0r. Qed.
End Operations.

Lemma slope_comp h f (x a c : R) : is_slope h (f x) c -> is_slope f x a -> is_slope (fun t => h (f t)) x (a * c).
Proof. exact: is_derive_comp. Qed.
Lemma inverse_value (y : Rdefinitions.R) : y <> 0%coqR -> (- 1 / y ^ 2 = - (/ y * / y))%coqR. Proof. by move=> y0; field. Qed.

Lemma slope_of_inverse (y : R) : y != 0 -> is_slope (fun t => t^-1) y (- (y^-1 * y^-1)).
Proof.
move=> y0; have n0 : y <> 0%coqR by apply/eqP.
apply: (@is_derive_ext_loc _ _ Rinv); first by apply: filter_imp (open_neq 0%coqR y n0) => t /eqP t0; rewrite RinvE.
apply: (@slope_as Rinv y (- 1 / y ^ 2)%coqR); first by apply: (is_derive_inv (fun t : Rdefinitions.R => t)) => //; apply: is_derive_id.
by rewrite inverse_value // !(RinvE y0).
Qed.
Lemma slope_inv f x a : is_slope f x a -> f x != 0 -> is_slope (fun t => (f t)^-1) x (- (a * ((f x)^-1 * (f x)^-1))).
Proof. move=> fa f0; rewrite -mulrN; exact: (slope_comp (slope_of_inverse f0) fa). Qed.
Lemma slope_exp f x a : is_slope f x a -> is_slope (fun t => exp (f t)) x (a * exp (f x)).
Proof. by move=> fa; apply: (@slope_comp exp f) => //; apply: is_derive_exp. Qed.
Lemma slope_ln f x a : is_slope f x a -> 0 < f x -> is_slope (fun t => ln (f t)) x (a * (f x)^-1).
Proof.
move=> fa f0; apply: (@slope_comp ln f) => //; rewrite -RinvE ?lt0r_neq0 //; apply: is_derive_ln; exact/RltP.
Qed.
Lemma slope_of_root (y : R) : 0 < y -> is_slope Num.sqrt y (2%:R^-1 * (Num.sqrt y)^-1).
Proof.
move=> y0; have p : (0 < y)%coqR by apply/RltP.
apply: (@is_derive_ext_loc _ _ sqrt).
  by apply: filter_imp (open_gt 0%coqR y p) => t /Rlt_le /RleP t0; rewrite RsqrtE.
apply: (@slope_as sqrt y (/ (2 * sqrt y))%coqR); first by apply/is_derive_Reals; apply: derivable_pt_lim_sqrt.
have s0 : Num.sqrt y != 0 by rewrite lt0r_neq0 // sqrtr_gt0.
have t0 : (2%:R : R) != 0 by rewrite pnatr_eq0.
rewrite -[RHS]invfM -[in RHS]RsqrtE ?ltW //.
by rewrite RinvE // RsqrtE ?ltW //; exact: (mulf_neq0 t0 s0).
Qed.
Lemma slope_sqrt f x a : is_slope f x a -> 0 < f x -> is_slope (fun t => Num.sqrt (f t)) x (a * (2%:R^-1 * (Num.sqrt (f x))^-1)).
Proof. by move=> fa f0; apply: (@slope_comp Num.sqrt f) => //; apply: slope_of_root. Qed.
Lemma slope_pow f x a n : is_slope f x a -> is_slope (fun t => f t ^+ n) x (n%:R * a * f x ^+ n.-1).
Proof.
move=> fa; elim: n => [|n IH]; first by rewrite !mul0r; apply: slope_const.
apply: (@slope_ext _ (fun t => f t * f t ^+ n)) => [t|]; first by rewrite exprS.
apply: slope_as (slope_mul_two fa IH) _ => /=; case: n {IH} => [|n] /=; first by rewrite !mul0r mulr0 addr0 mul1r mulr1.
by rewrite [in RHS]mulrS !mulrDl mul1r exprS; congr (_ + _); rewrite mulrCA.
Qed.
Lemma slope_norm_of_positive f x a : is_slope f x a -> 0 < f x -> is_slope (fun t => `|f t|) x a.
Proof.
move=> fa f0; have p : (0 < f x)%coqR by apply/RltP.
rewrite -[a]mulr1; apply: (@slope_comp Num.norm f) => //.
apply: (@is_derive_ext_loc _ _ (fun t : Rdefinitions.R => t)); last by apply: (@is_derive_id R_AbsRing).
by apply: filter_imp (open_gt 0%coqR (f x) p) => t /Rlt_le /RleP t0; rewrite ger0_norm.
Qed.
Lemma slope_norm_of_negative f x a : is_slope f x a -> 0 < - f x -> is_slope (fun t => `|f t|) x (- a).
Proof.
move=> fa f0; apply: (@slope_ext _ (fun t => `|- f t|)) => [t|]; first by rewrite normrN.
by apply: slope_norm_of_positive => //; apply: slope_opp.
Qed.

Lemma slope_sum n (f : R -> 'I_n -> R) d x : (forall k, is_slope (fun t => f t k) x (d k)) ->
  is_slope (fun t => \sum_(k < n) f t k) x (\sum_(k < n) d k).
Proof.
elim: n f d => [|n IH] f d fd.
  by rewrite big_ord0; apply: (@slope_ext _ (fun _ => 0)) => [t|]; [rewrite big_ord0 | apply: slope_const].
rewrite big_ord_recl; apply: (@slope_ext _ (fun t => f t ord0 + \sum_(k < n) f t (lift ord0 k))) => [t|].
  by rewrite big_ord_recl.
by apply: slope_add_two; [apply: fd | apply: IH => k; apply: fd].
Qed.

Lemma slope_marked m n (A : 'M[R]_(m, n)) i j k l x : is_slope (fun t => marked A i j t k l) x ((k == i)%:R * (l == j)%:R).
Proof.
apply: (@slope_ext _ (fun t => if (k == i) && (l == j) then t else A k l)) => [t|]; first by rewrite mxE.
by case: eqP => _; case: eqP => _ /=; rewrite ?mul1r ?mul0r; [apply: slope_id | apply: slope_const..].
Qed.
Lemma slope_marked_column n (z : 'cV[R]_n) i k x : is_slope (fun t => marked z i ord0 t k ord0) x (k == i)%:R.
Proof. by have := slope_marked z i ord0 k ord0 x; rewrite eqxx mulr1. Qed.
Lemma marked_same m n (A : 'M[R]_(m, n)) i j : marked A i j (A i j) = A.
Proof. by apply/matrixP => k l; rewrite mxE; case: andP => // -[/eqP -> /eqP ->]. Qed.

(* ---- Logarithms, powers, sines and cosines ---- *)

Definition cos : R -> R := Rtrigo_def.cos.
Definition sin : R -> R := Rtrigo_def.sin.
(* Any power of a positive number *)
Definition power_of (x y : R) : R := exp (y * ln x).

Lemma ln_of_product (x y : R) : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Proof. by move=> /RltP x0 /RltP y0; exact: ln_mult. Qed.
Lemma ln_of_inverse (x : R) : 0 < x -> ln x^-1 = - ln x.
Proof. by move=> x0; rewrite -RinvE ?lt0r_neq0 //; apply: ln_Rinv; exact/RltP. Qed.
Lemma ln_of_exp (x : R) : ln (exp x) = x. Proof. exact: ln_exp. Qed.
Lemma ln_of_one : ln 1 = 0. Proof. exact: ln_1. Qed.
Lemma ln_of_power (x : R) n : 0 < x -> ln (x ^+ n) = n%:R * ln x.
Proof.
move=> x0; elim: n => [|n IH]; first by rewrite mul0r expr0 ln_of_one.
by rewrite exprS ln_of_product ?exprn_gt0 // IH mulrS mulrDl mul1r.
Qed.
Lemma ln_of_root (x : R) : 0 < x -> ln (Num.sqrt x) = 2%:R^-1 * ln x.
Proof.
move=> x0; have t0 : (2%:R : R) != 0 by rewrite pnatr_eq0.
by rewrite -[in RHS](@sqr_sqrtr _ x) ?ltW // ln_of_power ?sqrtr_gt0 // mulrA mulVf // mul1r.
Qed.
Lemma exp_of_ln (x : R) : 0 < x -> exp (ln x) = x. Proof. by move=> /RltP x0; exact: exp_ln. Qed.
Lemma exp_of_opposite (x : R) : exp (- x) = (exp x)^-1. Proof. exact: exp_opposite exp_of_sum exp_above_zero x. Qed.
Lemma exp_of_multiple n (x : R) : exp (n%:R * x) = exp x ^+ n. Proof. exact: exp_multiple exp_of_sum exp_above_zero n x. Qed.
Lemma exp_of_zero : exp 0 = 1. Proof. exact: exp_zero exp_of_sum exp_above_zero. Qed.

Lemma cos_of_sum (x y : R) : cos (x + y) = cos x * cos y - sin x * sin y. Proof. exact: cos_plus. Qed.
Lemma sin_of_sum (x y : R) : sin (x + y) = sin x * cos y + cos x * sin y. Proof. exact: sin_plus. Qed.
Lemma cos_of_opposite (x : R) : cos (- x) = cos x. Proof. exact: cos_neg. Qed.
Lemma sin_of_opposite (x : R) : sin (- x) = - sin x. Proof. exact: sin_neg. Qed.
Lemma cos_of_zero : cos 0 = 1. Proof. exact: cos_0. Qed.
Lemma sin_of_zero : sin 0 = 0. Proof. exact: sin_0. Qed.
Lemma twice (x y : R) : x = 2%:R * y -> x = y + y. Proof. by move=> ->; rewrite mulr_natl mulr2n. Qed.
Lemma sine_squared (x : R) : sin x * sin x = 1 - cos x * cos x.
Proof.
have : sin x * sin x + cos x * cos x = 1 by exact: sin2_cos2.
by move=> <-; rewrite addrK.
Qed.

Lemma sine_of_half (x : R) : sin (x / 2%:R) ^+ 2 = (1 - cos x) / 2%:R.
Proof.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
have -> : 1 - cos x = sin (x / 2%:R) * sin (x / 2%:R) + sin (x / 2%:R) * sin (x / 2%:R).
  by rewrite [in LHS](splitr x) cos_of_sum opprB addrCA -sine_squared.
by rewrite expr2 -mulr2n -[(sin _ * sin _) *+ 2]mulr_natr mulfK.
Qed.

Lemma slope_cos f x a : is_slope f x a -> is_slope (fun t => cos (f t)) x (a * - sin (f x)).
Proof. by move=> fa; apply: (@slope_comp cos f) => //; apply/is_derive_Reals; apply: derivable_pt_lim_cos. Qed.
Lemma slope_sin f x a : is_slope f x a -> is_slope (fun t => sin (f t)) x (a * cos (f x)).
Proof. by move=> fa; apply: (@slope_comp sin f) => //; apply/is_derive_Reals; apply: derivable_pt_lim_sin. Qed.

(* Goal: a = ?x. Unfolds the entries among the factors of a. *)
Ltac factors_seen := lazymatch goal with
  | |- ?a * ?b = _ => apply: (f_equal2 *%R); factors_seen
  | |- ?a ^-1 = _ => apply: (f_equal GRing.inv); factors_seen
  | |- fun_of_matrix _ _ _ = _ =>
    tryif (etransitivity; [first [apply: softmax_columnE | apply: softmax_rowsE | apply: mxE] |]) then (cbv beta; factors_seen) else reflexivity
  | |- _ => reflexivity
  end.

(* Goal: cos a = ?x or sin a = ?x, where a is a sum of products *)
Ltac angles_apart :=
  lazymatch goal with
  | |- cos (_ + _) = _ => etransitivity; [apply: cos_of_sum |];
    apply: (f_equal2 +%R); [apply: (f_equal2 *%R); angles_apart | apply: (f_equal -%R); apply: (f_equal2 *%R); angles_apart]
  | |- sin (_ + _) = _ => etransitivity; [apply: sin_of_sum |]; apply: (f_equal2 +%R); apply: (f_equal2 *%R); angles_apart
  | |- cos (- _) = _ => etransitivity; [apply: cos_of_opposite | angles_apart]
  | |- sin (- _) = _ => etransitivity; [apply: sin_of_opposite | apply: (f_equal -%R); angles_apart]
  | |- cos 0 = _ => exact: cos_of_zero
  | |- sin 0 = _ => exact: sin_of_zero
  | |- ?f ?b = _ =>
    let R := lazymatch type of b with ?R => constr:(R) end in
    tryif (let p := take_factor R ltac:(fun x => lazymatch x with @GRing.natmul _ _ 2%N => idtac end) b in
           lazymatch p with (_, ?r) => etransitivity; [apply: (f_equal f); apply: (@twice b r); by_factors |] end)
    then angles_apart else reflexivity
  end.

(* A single factor on either side, which the general prelude does not handle *)
Ltac by_factors ::=
  lazymatch goal with
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ ?c (@GRing.mul _ ?d ?y) => apply: keep_right; by_factors
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ (@GRing.mul _ ?c ?y) ?d => apply: keep_left; by_factors
  | |- @GRing.mul _ (GRing.one _) _ = @GRing.mul _ _ (GRing.one _) => apply: mulrC
  | |- _ = @GRing.mul _ (GRing.one _) _ => symmetry; apply: mul1r
  | |- _ = @GRing.mul _ _ (GRing.one _) => symmetry; apply: mulr1
  | |- @GRing.mul _ _ _ = @GRing.mul _ _ _ => apply: mulrC
  end.

Ltac exponents_apart :=
  lazymatch goal with
  | |- exp (1 * _) = _ => etransitivity; [apply: (f_equal exp); apply: mul1r | exponents_apart]
  | |- exp (_ + _) = _ => etransitivity; [apply: exp_of_sum |]; apply: (f_equal2 *%R); exponents_apart
  | |- exp (- _) = _ => etransitivity; [apply: exp_of_opposite |]; apply: (f_equal GRing.inv); exponents_apart
  | |- exp (ln _) = _ => apply: exp_of_ln; positive
  | |- exp 0 = _ => exact: exp_of_zero
  | |- exp ?b = _ =>
    let R := lazymatch type of b with ?R => constr:(R) end in
    tryif (let p := take_factor R is_numeral b in
           lazymatch p with (@GRing.natmul _ _ ?n, ?r) =>
             etransitivity; [etransitivity; [apply: (f_equal exp); assert (e : b = n%:R * r) by by_factors; exact: e | apply: exp_of_multiple] |] end)
    then (apply: (f_equal (fun t => t ^+ _)); exponents_apart) else reflexivity
  end.

(* Goal: a = ?x. Also cancels common factors of numerator and denominator in each term of a sum. *)
Ltac normal_cancelled := etransitivity; [normal |]; cancel.

Ltac speaks_of_functions e := lazymatch e with
  | context [ln] => idtac | context [cos] => idtac | context [sin] => idtac | context [Num.sqrt _ ^+ 2] => idtac
  end.

(* Goal: e = ?x. Expands logarithms of products, exponentials of logarithms, and sines and cosines of sums. *)
Ltac functions_apart :=
  lazymatch goal with |- ?e = _ =>
  tryif speaks_of_functions e then
    lazymatch e with
    | ?a + ?b => apply: (f_equal2 +%R); functions_apart
    | ?a * ?b => apply: (f_equal2 *%R); functions_apart
    | - ?a => apply: (f_equal -%R); functions_apart
    | ?a ^-1 => apply: (f_equal GRing.inv); functions_apart
    | sin (?a / 2%:R) ^+ 2 => etransitivity; [apply: sine_of_half |]; functions_apart
    | Num.sqrt ?a ^+ 2 => tryif (etransitivity; [apply: sqr_sqrtr; solve [nonnegative] |]) then functions_apart
      else (apply: (f_equal (fun t => t ^+ 2)); apply: (f_equal Num.sqrt); functions_apart)
    | ?a ^+ ?n => apply: (f_equal (fun t => t ^+ n)); functions_apart
    | Num.sqrt ?a => apply: (f_equal Num.sqrt); functions_apart
    | `|?a| => apply: (f_equal Num.norm); functions_apart
    | exp ?a => etransitivity; [apply: (f_equal exp); functions_apart |];
      lazymatch goal with
      | |- exp ?b = _ => tryif lazymatch b with context [ln _] => idtac end
        then (etransitivity; [apply: (f_equal exp); normal_cancelled |]; exponents_apart) else reflexivity
      end
    | ln ?a => etransitivity; [apply: (f_equal ln); factors_seen |]; ln_apart
    | cos ?a => etransitivity; [apply: (f_equal cos); normal_cancelled |]; angles_apart
    | sin ?a => etransitivity; [apply: (f_equal sin); normal_cancelled |]; angles_apart
    | @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) _ => apply: each => ?; cbv beta; functions_apart
    | fun_of_matrix _ _ _ =>
      tryif (etransitivity; [first [apply: softmax_columnE | apply: softmax_rowsE | apply: writtenE | apply: mxE] |])
      then (cbv beta; functions_apart) else reflexivity
    | _ => reflexivity
    end else reflexivity
  end
(* Goal: ln a = ?x *)
with ln_apart :=
  lazymatch goal with
  | |- ln (_ * _) = _ => tryif (etransitivity; [apply: ln_of_product; solve [positive] |])
    then (apply: (f_equal2 +%R); ln_apart) else reflexivity
  | |- ln (_ ^-1) = _ => tryif (etransitivity; [apply: ln_of_inverse; solve [positive] |])
    then (apply: (f_equal -%R); ln_apart) else reflexivity
  | |- ln (_ ^+ _) = _ => tryif (etransitivity; [apply: ln_of_power; solve [positive] |])
    then (apply: (f_equal2 *%R); [reflexivity | ln_apart]) else reflexivity
  | |- ln (Num.sqrt _) = _ => tryif (etransitivity; [apply: ln_of_root; solve [positive] |])
    then (apply: (f_equal2 *%R); [reflexivity | ln_apart]) else reflexivity
  | |- ln (exp _) = _ => etransitivity; [apply: ln_of_exp |]; functions_apart
  | |- ln 1 = _ => exact: ln_of_one
  | |- ln _ = _ =>
    etransitivity; [apply: (f_equal ln); functions_apart |];
    etransitivity; [apply: (f_equal ln); normal |];
    lazymatch goal with |- ln (_ * _) = _ => ln_apart | |- _ => reflexivity end
  end.

Ltac take_functions :=
  unfold power_of; try (apply/matrixP => ? ?);
  (etransitivity; [functions_apart |]); symmetry; (etransitivity; [functions_apart |]); symmetry.

(* ---- Differentiation ---- *)

(* Goal: 0 < e. It is the sum y + z or y + 2 z of two numbers that are assumed to be positive. *)
Lemma same_gt0 (x y : R) : x = y -> 0 < y -> 0 < x. Proof. by move=> ->. Qed.
Ltac normal_equal := (etransitivity; [normal |]); symmetry; (etransitivity; [normal |]); symmetry; compare R.
Ltac sum_is_positive :=
  let sum e := solve [apply: (@same_gt0 _ e); [normal_equal | repeat first [assumed | apply: addr_gt0]]] in
  match goal with H : is_true (_ 0 ?y), K : is_true (_ 0 ?z) |- _ => first [sum (y + z) | sum (y + (z + z))] end.
Ltac sign_of_part := cbv beta; rewrite ?marked_same;
  lazymatch goal with
  | |- is_true (negb _) => first [not_zero_by_sign | apply: lt0r_neq0; apply: sum_gt0 => // ?; rewrite !mxE; positive]
  | |- _ => first [positive | sum_is_positive]
  end.

(* Goal: is_slope f x ?v *)
Ltac differentiate := cbv beta zeta; lazymatch goal with
  | |- is_slope (fun _ => ?c) _ _ => exact: slope_const
  | |- is_slope (fun t => t) _ _ => exact: slope_id
  | |- is_slope (fun t => @?f t + @?g t) _ _ => lazymatch f with
    | fun _ => ?c => refine (@slope_const_add g _ _ _ c); differentiate
    | _ => lazymatch g with
      | fun _ => ?c => refine (@slope_add_const f _ _ _ c); differentiate
      | _ => refine (@slope_add_two f g _ _ _ _ _); differentiate
      end
    end
  | |- is_slope (fun t => - @?f t) _ _ => refine (@slope_opp f _ _ _); differentiate
  | |- is_slope (fun t => @?f t * @?g t) _ _ => lazymatch f with
    | fun _ => ?c => refine (@slope_const_mul g _ _ _ c); differentiate
    | _ => lazymatch g with
      | fun _ => ?c => refine (@slope_mul_const f _ _ _ c); differentiate
      | _ => refine (@slope_mul_two f g _ _ _ _ _); differentiate
      end
    end
  | |- is_slope (fun t => (@?f t)^-1) _ _ => refine (@slope_inv f _ _ _ _); [differentiate | sign_of_part]
  | |- is_slope (fun t => (@?f t) ^+ ?n) _ _ => refine (@slope_pow f _ _ n _); differentiate
  | |- is_slope (fun t => exp (@?f t)) _ _ => refine (@slope_exp f _ _ _); differentiate
  | |- is_slope (fun t => ln (@?f t)) _ _ => refine (@slope_ln f _ _ _ _); [differentiate | sign_of_part]
  | |- is_slope (fun t => cos (@?f t)) _ _ => refine (@slope_cos f _ _ _); differentiate
  | |- is_slope (fun t => sin (@?f t)) _ _ => refine (@slope_sin f _ _ _); differentiate
  | |- is_slope (fun t => Num.sqrt (@?f t)) _ _ => refine (@slope_sqrt f _ _ _ _); [differentiate | sign_of_part]
  | |- is_slope (fun t => `|@?f t|) _ _ => first
    [ refine (@slope_norm_of_positive f _ _ _ _); [differentiate | solve [sign_of_part]]
    | refine (@slope_norm_of_negative f _ _ _ _); [differentiate | solve [sign_of_part]] ]
  | |- is_slope (fun t => @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f t i))) _ _ =>
    refine (@slope_sum n f _ _ _); move=> ?; differentiate
  | |- is_slope (fun t => fun_of_matrix (marked _ _ ord0 t) _ ord0) _ _ => exact: slope_marked_column
  | |- is_slope (fun t => fun_of_matrix (marked _ _ _ t) _ _) _ _ => exact: slope_marked
  | |- is_slope (fun t => fun_of_matrix (@?M t) ?i ?j) _ _ =>
    eapply slope_ext; [move=> ?; cbv beta; etransitivity;
      [first [apply: softmax_columnE | apply: softmax_rowsE | apply: writtenE | apply: mxE] | reflexivity] | differentiate]
  end.

Ltac taken := etransitivity; [apply: slope_value; differentiate | cbv beta zeta; rewrite ?marked_same; cbn [predn Nat.pred]; reflexivity].

(* Goal: e = ?x. Computes the derivatives in e. *)
Ltac slopes_taken :=
  lazymatch goal with
  | |- slope _ _ = _ => taken
  | |- ?e = _ => tryif lazymatch e with context [slope _ _] => idtac end then
    lazymatch e with
    | ?a + ?b => apply: (f_equal2 +%R); slopes_taken
    | ?a * ?b => apply: (f_equal2 *%R); slopes_taken
    | - ?a => apply: (f_equal -%R); slopes_taken
    | ?a ^-1 => apply: (f_equal GRing.inv); slopes_taken
    | ?a ^+ ?n => apply: (f_equal (fun t => t ^+ n)); slopes_taken
    | exp ?a => apply: (f_equal exp); slopes_taken
    | @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) _ => apply: each => ?; cbv beta; slopes_taken
    | fun_of_matrix _ _ _ => etransitivity; [apply: mxE | cbv beta; slopes_taken]
    end else reflexivity
  end.

Lemma ln_not_below_zero (x : R) : 0 <= x -> 0 <= ln (x + 1).
Proof.
move=> x0; case/orP: (orbN (0 == x)) => [/eqP <- | x1]; first by rewrite add0r ln_of_one.
have px : 0 < x by rewrite lt_neqAle x1.
apply: ltW; apply/RltP; rewrite -[0]ln_of_one; apply: ln_increasing; apply/RltP; [exact: ltr01 | by rewrite ltr_addr].
Qed.

(* Facts about the exponential; log(x + 1) is not negative if x is not; the squared length of a vector is positive if it is assumed to be
   nonzero. *)
Lemma length_positive n (x : 'cV[R]_n) : (x^T *m x) ord0 ord0 != 0 -> 0 < (x^T *m x) ord0 ord0.
Proof. by move=> x0; rewrite lt0r x0 mxE; apply: sumr_ge0 => k _; rewrite mxE -expr2 sqr_ge0. Qed.
Lemma squares_positive n (x : 'cV[R]_n) : (x^T *m x) ord0 ord0 != 0 -> 0 < \sum_(k < n) x k ord0 * x k ord0.
Proof. by move=> /length_positive; rewrite mxE; under eq_bigr do rewrite mxE. Qed.
Ltac exponential_known := have exp_add := exp_of_sum; have exp_positive := exp_above_zero; have exp_increasing := exp_rises;
  repeat match goal with H : is_true (negb (@eq_op _ (fun_of_matrix (mulmx (trmx ?x) ?x) _ _) _)) |- _ =>
    lazymatch goal with _ : is_true (@Order.lt _ _ _ (fun_of_matrix (mulmx (trmx x) x) _ _)) |- _ => fail | _ => idtac end;
    have := length_positive H; have := squares_positive H; move=> ? ? end;
  repeat match goal with |- context [ln (?x + 1)] =>
    lazymatch goal with _ : is_true (0 <= ln (x + 1)) |- _ => fail | _ => idtac end;
    have : 0 <= ln (x + 1) by [apply: ln_not_below_zero; nonnegative]; move=> ? end.
Ltac take_slopes :=
  try (apply/matrixP => ? ?);
  (etransitivity; [slopes_taken |]); symmetry; (etransitivity; [slopes_taken |]); symmetry.
Ltac a_slope_exists := intros; eapply slope_exists; differentiate.

(* ---- The remaining goals ---- *)

Ltac sines_squared := repeat match goal with |- context [sin ?x] =>
    lazymatch goal with H : @GRing.mul _ (sin x) (sin x) = _ |- _ => fail | _ => have := sine_squared x; move=> ? end
  end.
(* `field` leaves the 1 of Coq's library. *)
Lemma one_of_library : one R = Rdefinitions.R1. Proof. by []. Qed.
Ltac compare R ::= denominators; root_facts; sines_squared; spell R; hide_all;
  first [by_ring | field_with_roots; rewrite -?one_of_library; nonzero].

(* Two places are equal or different. *)
Lemma unit_entry n (i j : 'I_n) : (1%:M : 'M[R]_n) i j = (i == j)%:R. Proof. by rewrite mxE. Qed.
Ltac one_place_or_two := match goal with |- context [@eq_op _ ?i ?j] =>
    let same := fresh "same" in
    rewrite ?unit_entry; have [same | same] := eqVneq i j; [rewrite ?same ?eqxx | rewrite ?[j == i]eq_sym ?(negbTE same)]
  end.

(* Two sums over the same places, term by term *)
Ltac termwise R :=
  rewrite ?mxE ?(mulr_sumr, mulr_suml) -?sumrN -?big_split /=; apply: eq_bigr => ? _; rewrite ?mxE; compare R.

(* Goal: e = ?x. Rewrites 1 / (1 + 1 / x) as x / (1 + x). *)
Lemma inverse_below (x : R) : x != 0 -> (1 + x^-1)^-1 = x * (1 + x)^-1.
Proof.
move=> x0; have -> : 1 + x^-1 = (1 + x) * x^-1 by rewrite mulrDl mul1r divff // addrC.
by rewrite invfM invrK mulrC.
Qed.
Ltac lifted := lazymatch goal with
  | |- ?a + ?b = _ => apply: (f_equal2 +%R); lifted
  | |- ?a * ?b = _ => apply: (f_equal2 *%R); lifted
  | |- - ?a = _ => apply: (f_equal -%R); lifted
  | |- (1 + ?x^-1)^-1 = _ => apply: inverse_below; not_zero_by_sign
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType _)) _ = _ => apply: each => ?; cbv beta; lifted
  | |- _ => reflexivity
  end.
Ltac both_normal := (etransitivity; [normal |]); symmetry; (etransitivity; [normal |]); symmetry.
Ltac by_lifting R :=
  both_normal;
  lazymatch goal with |- context [@GRing.inv _ (1 + @GRing.inv _ _)] => idtac end;
  (etransitivity; [lifted |]); symmetry; (etransitivity; [lifted |]); symmetry; both_normal; compare R.

(* Goal: nested sums = ?x. The outermost sum becomes the innermost. *)
Ltac sum_turned := lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@BigOp.bigop _ _ _ _ _)) = _ =>
    etransitivity; [apply: exchange_big |]; etransitivity; [apply: each => ?; cbv beta; sum_turned | reflexivity]
  | |- _ => reflexivity
  end.
Ltac sums_turned := lazymatch goal with
  | |- ?a + ?b = _ => apply: (f_equal2 +%R); sums_turned
  | |- ?a * ?b = _ => apply: (f_equal2 *%R); sums_turned
  | |- - ?a = _ => apply: (f_equal -%R); sums_turned
  | |- _ => sum_turned
  end.
(* Goal: an equality whose sums are nested in different orders *)
Ltac by_turning R :=
  both_normal;
  lazymatch goal with |- context [@BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@BigOp.bigop _ _ _ _ _))] => idtac end;
  let other := (etransitivity; [sums_turned |]; etransitivity; [normal |]) in
  first [ solve [other; compare R] | solve [symmetry; other; compare R] ].

Ltac settled R := first
  [ solve [entrywise R] | solve [termwise R] | solve [one_place_or_two; entrywise R] | solve [by_lifting R] | solve [by_turning R] ].

(* Equal arguments make equal logarithms, cosines and sines. *)
Ltac hide_function ::=
  let same f := first [reflexivity | apply: (f_equal f); by_ring | apply: (f_equal f); field; nonzero] in
  match goal with
  | |- context [ln ?a] => hide (ln a) ltac:(fun _ => same ln)
  | |- context [cos ?a] => hide (cos a) ltac:(fun _ => same cos)
  | |- context [sin ?a] => hide (sin a) ltac:(fun _ => same sin)
  end.

(* From here on, computation does not unfold the real numbers. *)
Global Opaque reals exp ln cos sin.
