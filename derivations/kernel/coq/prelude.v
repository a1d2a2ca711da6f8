(* The prelude of all claims' files: the tactics that prove the claims, and their lemmas.

   Everything here is proved; there are no axioms. A claim's file declares a structure R, variables for what the claim is about, and
   hypotheses for its assumptions. Its proofs end in `entrywise R` or, if the claim multiplies matrices, in `matrices R`. *)
From Coq Require Export Ring Field.
From mathcomp Require Export all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Export GRing.Theory Order.Theory Num.Theory.
Local Open Scope ring_scope.

(* ---- Operations that `ring` and `field` know ----

   Coq's `ring` and `field` compare terms syntactically, and MathComp can write the same operation in many ways, depending on how
   its structure was inferred. So each operation gets a separate name here, the only one that `ring` and `field` know. *)

Section Ring.
Variable R : comRingType.
Definition zero : R := 0.
Definition one : R := 1.
Definition plus (x y : R) : R := x + y.
Definition times (x y : R) : R := x * y.
Definition minus (x y : R) : R := x - y.
Definition opposite (x : R) : R := - x.
Definition numeral n : R := n%:R.
Definition power (x : R) n : R := x ^+ n.
Definition entry m n (M : 'M[R]_(m, n)) i j : R := M i j.
Definition total n (f : 'I_n -> R) : R := \sum_(i < n) f i.

Lemma ring_of : @ring_theory (GRing.ComRing.sort R) zero one plus times minus opposite (@eq R).
Proof.
split=> //=; rewrite /plus /times /minus /opposite.
- exact: add0r. - exact: addrC. - exact: addrA. - exact: mul1r.
- exact: mulrC. - exact: mulrA. - exact: mulrDl. - exact: subrr.
Qed.
End Ring.

Section Field.
Variable F : fieldType.
Local Notation carrier := (GRing.ComRing.sort F).
Definition reciprocal (x : carrier) : carrier := (x : F)^-1.
Definition quotient (x y : carrier) : carrier := (x : F) / (y : F).
Definition not_zero (x : carrier) : bool := (x : F) != 0.

Lemma field_of :
  @field_theory carrier (zero F) (one F) (@plus F) (@times F) (@minus F) (@opposite F) quotient reciprocal (@eq carrier).
Proof.
split=> //=; first exact: (ring_of F).
  by apply/eqP; rewrite oner_neq0.
by move=> p /eqP p0; apply: mulVf.
Qed.
End Field.

Definition above_zero (R : realFieldType) (x : GRing.ComRing.sort R) : bool := 0 < (x : R).

(* ---- Definitions that claims use and MathComp does not have ---- *)

(* Softmax of a vector, and of each row of a matrix, for any exponential *)
Section Softmax.
Variables (R : realFieldType) (exp : R -> R).
Definition softmax_column n (z : 'cV[R]_n) : 'cV[R]_n := \col_i (exp (z i ord0) / \sum_(j < n) exp (z j ord0)).
Definition softmax_rows m n (S : 'M[R]_(m, n)) : 'M[R]_(m, n) := \matrix_(i, j) (exp (S i j) / \sum_(k < n) exp (S i k)).

Lemma softmax_columnE n (z : 'cV[R]_n) i j : softmax_column z i j = exp (z i ord0) / \sum_(k < n) exp (z k ord0).
Proof. by rewrite mxE. Qed.

Lemma softmax_rowsE m n (S : 'M[R]_(m, n)) i j : softmax_rows S i j = exp (S i j) / \sum_(k < n) exp (S i k).
Proof. by rewrite mxE. Qed.
End Softmax.

(* A matrix given by the list of its entries *)
Definition written (R : ringType) m n (rows : seq (seq R)) : 'M[R]_(m, n) := \matrix_(i, j) nth 0 (nth [::] rows i) j.

Lemma writtenE (R : ringType) m n (rows : seq (seq R)) i j : written m n rows i j = nth 0 (nth [::] rows i) j.
Proof. by rewrite mxE. Qed.

(* The exponential: any positive function that turns sums into products. *)
Section Exponential.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.
Hypothesis exp_positive : forall x, 0 < exp x.

Lemma exp_zero : exp 0 = 1.
Proof. by apply: (mulfI (lt0r_neq0 (exp_positive 0))); rewrite -exp_add addr0 mulr1. Qed.

Lemma exp_opposite x : exp (- x) = (exp x)^-1.
Proof. by apply: (mulfI (lt0r_neq0 (exp_positive x))); rewrite -exp_add subrr exp_zero divff ?lt0r_neq0. Qed.

Lemma exp_multiple n x : exp (n%:R * x) = exp x ^+ n.
Proof. by rewrite mulr_natl; elim: n => [|n IH]; rewrite ?exp_zero // mulrS exp_add IH exprS. Qed.

Lemma exp_numeral n : exp n%:R = exp 1 ^+ n.
Proof. by rewrite -[n%:R]mulr1 exp_multiple. Qed.

Lemma exp_from_one x : (forall x y, x <= y -> exp x <= exp y) -> 0 <= x -> 0 <= exp x - 1.
Proof. by move=> increasing x0; rewrite subr_ge0 -exp_zero; apply: increasing. Qed.

Lemma exp_below_one x : (forall x y, x <= y -> exp x <= exp y) -> 0 <= x -> 0 <= 1 - exp (- x).
Proof. by move=> increasing x0; rewrite subr_ge0 -exp_zero; apply: increasing; rewrite oppr_le0. Qed.

(* exp(x/2) is not a power of exp(x), so a claim's file writes x as 2 y. *)
Lemma divided (x : R) n : (0 < n)%N -> exists y, x = n%:R * y.
Proof. by move=> n0; exists (x / n%:R); rewrite mulrCA divff ?mulr1 // pnatr_eq0 -lt0n. Qed.
End Exponential.

(* ---- Signs ----

   The form of a number shows that it is positive, or not negative: a sum of squares, a quotient of exponentials. Hypotheses are
   tried first. There is no arithmetic here. *)

Section Signs.
Variable R : realFieldType.
Implicit Types x : R.
Lemma norm_plus_ge0 x : 0 <= `|x| + x. Proof. by rewrite -ler_subl_addr sub0r -normrN ler_norm. Qed.
Lemma norm_minus_ge0 x : 0 <= `|x| - x. Proof. by rewrite subr_ge0 ler_norm. Qed.
Lemma even_ge0 x n : ~~ odd n -> 0 <= x ^+ n. Proof. exact: exprn_even_ge0. Qed.
Lemma square_ge0 x : 0 <= x * x. Proof. by rewrite -expr2 sqr_ge0. Qed.
Lemma sum_gt0 n (f : 'I_n -> R) : (0 < n)%N -> (forall i, 0 < f i) -> 0 < \sum_(i < n) f i.
Proof.
case: n f => // n f _ f_positive; rewrite big_ord_recl; apply: ltr_paddr => //.
by apply: sumr_ge0 => i _; apply: ltW.
Qed.
Lemma above_ge0 x y : 0 <= x - y -> 0 <= y -> 0 <= x. Proof. by rewrite subr_ge0 => yx y0; apply: le_trans yx. Qed.
Lemma size_minus_ge0 n : (0 < n)%N -> 0 <= n%:R - 1 :> R. Proof. by move=> n0; rewrite subr_ge0 ler1n. Qed.
Lemma dot_ge0 n (u : 'cV[R]_n) : 0 <= (u^T *m u) ord0 ord0.
Proof. by rewrite mxE; apply: sumr_ge0 => i _; rewrite mxE square_ge0. Qed.
End Signs.

Ltac assumed := match goal with
  | H : is_true (@Order.lt _ _ _ _) |- is_true (@Order.lt _ _ _ _) => exact: H
  | H : is_true (@Order.le _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: H
  | H : is_true (@Order.lt _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: ltW H
  | H : forall _, is_true (@Order.lt _ _ _ _) |- is_true (@Order.lt _ _ _ _) => exact: H
  | H : forall _, is_true (@Order.le _ _ _ _) |- is_true (@Order.le _ _ _ _) => exact: H
  | H : is_true (negb _) |- is_true (negb _) => exact: H
  | H : forall _, is_true (negb _) |- is_true (negb _) => exact: H
  end.

(* Goal: 0 <= exp x - exp y. Defined below, where `field` is available. *)
Ltac exponents_in_order := fail.
Ltac exponential_from_one := lazymatch goal with
  | E : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y), P : forall x, is_true (@Order.lt _ _ _ (?exp x)),
    increasing : forall x y, _ -> is_true (@Order.le _ _ (?exp x) (?exp y)) |- _ =>
    first [apply: (exp_from_one E P increasing) | apply: (exp_below_one E P increasing)]
  end.

Ltac positive := first [ assumed | lazymatch goal with |- is_true (@Order.lt _ _ _ ?x) => lazymatch x with
  | GRing.one _ => exact: ltr01
  | @GRing.natmul _ _ _ => by rewrite ltr0n
  | @GRing.inv _ _ => rewrite invr_gt0; positive
  | @GRing.mul _ _ _ => apply: mulr_gt0; positive
  | @GRing.add _ _ (@GRing.opp _ (GRing.one _)) => rewrite -addrA; apply: ltr_paddr; [by apply: size_minus_ge0 | positive]
  | @GRing.add _ _ _ => first [apply: ltr_paddr; [nonnegative | positive] | apply: ltr_paddl; [nonnegative | positive]]
  | @BigOp.bigop _ _ _ _ _ => apply: sum_gt0 => // ?; positive
  | @GRing.exp _ _ _ => apply: exprn_gt0; positive
  | @Num.sqrt _ _ => rewrite sqrtr_gt0; positive
  | @fun_of_matrix _ _ _ _ _ _ => first [rewrite softmax_rowsE | rewrite softmax_columnE]; positive
  | _ => first [exact: ltr01 | apply: addr_gt0; positive | apply: mulr_gt0; positive]   (* numerals as `field` leaves them *)
  end end ]
with nonnegative := first [ assumed | lazymatch goal with |- is_true (@Order.le _ _ _ ?x) => lazymatch x with
  | GRing.one _ => exact: ler01
  | @GRing.natmul _ _ _ => exact: ler0n
  | @GRing.inv _ _ => rewrite invr_ge0; nonnegative
  | @GRing.mul _ _ _ => first [exact: square_ge0 | apply: mulr_ge0; nonnegative]
  | @GRing.add _ (Num.norm _) (@GRing.opp _ _) => exact: norm_minus_ge0
  | @GRing.add _ (Num.norm _) _ => exact: norm_plus_ge0
  | @GRing.add _ _ (@GRing.opp _ (GRing.one _)) => first [by apply: size_minus_ge0 | exponential_from_one; nonnegative]
  | @GRing.add _ _ (@GRing.opp _ (@GRing.opp _ _)) => rewrite opprK; nonnegative
  | @GRing.add _ (GRing.one _) (@GRing.opp _ (_ (@GRing.opp _ _))) =>
    first [exponential_from_one; nonnegative | apply: addr_ge0; nonnegative]
  | @GRing.add _ (?f _) (@GRing.opp _ (?f _)) => exponents_in_order
  | @GRing.add _ _ _ => apply: addr_ge0; nonnegative
  | @BigOp.bigop _ _ _ _ _ => apply: sumr_ge0 => ? _; nonnegative
  | @GRing.exp _ _ _ => first [by apply: even_ge0 | apply: exprn_ge0; nonnegative]
  | @Num.sqrt _ _ => exact: sqrtr_ge0
  | Num.norm _ => exact: normr_ge0
  | @fun_of_matrix _ _ _ _ _ _ =>
    first [exact: dot_ge0 | rewrite softmax_rowsE; nonnegative | rewrite softmax_columnE; nonnegative]
  end end | apply: ltW; positive
  | match goal with
    | H : is_true (@Order.le _ _ _ (@GRing.add _ ?x (@GRing.opp _ _))) |- is_true (@Order.le _ _ _ ?x) =>
      apply: (above_ge0 H); nonnegative
    | H : forall _ : 'I_?m, is_true (@Order.le _ _ _ (@GRing.add _ ?x (@GRing.opp _ _))), i : 'I_?m
      |- is_true (@Order.le _ _ _ ?x) => apply: (above_ge0 (H i)); nonnegative
    end ].

Ltac not_zero_by_sign := first [assumed | apply: lt0r_neq0; positive].

(* ---- Matrices ----

   Products of sums of matrices are expanded, transposes move to the leaves and scalars to the front. Each remaining product becomes
   a variable, so that the rest can be compared entry by entry. *)

Section Matrices.
Variable R : comRingType.
Lemma turnD m n (A B : 'M[R]_(m, n)) : (A + B)^T = A^T + B^T. Proof. exact: linearD. Qed.
Lemma turnN m n (A : 'M[R]_(m, n)) : (- A)^T = - A^T. Proof. exact: linearN. Qed.
Lemma turnZ m n c (A : 'M[R]_(m, n)) : (c *: A)^T = c *: A^T. Proof. exact: linearZ. Qed.
Lemma scale_left m n p c (A : 'M[R]_(m, n)) (B : 'M_(n, p)) : (c *: A) *m B = c *: (A *m B).
Proof. by rewrite scalemxAl. Qed.
Lemma scale_right m n p c (A : 'M[R]_(m, n)) (B : 'M_(n, p)) : A *m (c *: B) = c *: (A *m B).
Proof. by rewrite scalemxAr. Qed.
Lemma turn_product m n p (A : 'M[R]_(m, n)) (B : 'M_(n, p)) C : A *m B = C -> B^T *m A^T = C^T.
Proof. by move=> <-; rewrite trmx_mul. Qed.
Lemma carry_product m n p (A : 'M[R]_(m, n)) (B : 'M_(n, p)) C : A *m B = C ->
  forall q (Z : 'M_(q, m)), Z *m A *m B = Z *m C.
Proof. by move=> <- q Z; rewrite mulmxA. Qed.
End Matrices.
Lemma turn_inverse (R : comUnitRingType) n (A : 'M[R]_n) : invmx A^T = (invmx A)^T. Proof. by rewrite trmx_inv. Qed.

Ltac multiply_out :=
  rewrite ?(turnD, turnN, turnZ, trmx_mul, trmxK, trmx0, trmx1, tr_scalar_mx, trmx_const, turn_inverse, invmxK, invmx1);
  rewrite ?(mulmxDl, mulmxDr, mulNmx, mulmxN, mul1mx, mulmx1, mul0mx, mulmx0, mul_scalar_mx, mul_mx_scalar,
            scale_left, scale_right, mulmxA).

(* An assumed product A B = C is applied wherever it occurs, also transposed and after other factors. *)
Ltac apply_product H :=
  let turned := fresh "turned" in
  have turned := turn_product H; rewrite ?(trmxK, trmx0, trmx1, tr_scalar_mx) in turned;
  do 4 (rewrite ?(carry_product H) ?H ?(carry_product turned) ?turned; multiply_out).

Ltac apply_inverse H := apply_product (mulmxV H); apply_product (mulVmx H).

(* An assumed product, entry by entry: \sum_j A i j * B j k is known. *)
Ltac entry_of_product H :=
  let i := fresh "i" in let k := fresh "k" in let e := fresh "e" in
  move=> i k; have := congr1 (fun M => fun_of_matrix M i k) H; rewrite !mxE => e; refine (etrans _ e);
  apply: eq_bigr => ? _; rewrite ?mxE.

Ltac hide_products := repeat match goal with |- context [?A *m ?B] => move: (A *m B) => ? end.

(* ---- Products as lists of factors ----

   A product has the form x1 * x2 * ... * xn, with parentheses to the left. These tactics find a factor and prove that it can come first. *)

Section Factors.
Variable R : comRingType.
Implicit Types x y c d : R.
Lemma keep_left x y c d : x = c * d -> x * y = c * y * d. Proof. by move=> ->; rewrite mulrAC. Qed.
Lemma keep_right x y c d : x = c * d -> x * y = c * (d * y). Proof. by move=> ->; rewrite mulrA. Qed.
End Factors.

(* Goal: a product = the same factors, with some of them moved to the front in their order. *)
Ltac by_factors :=
  lazymatch goal with
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ ?c (@GRing.mul _ ?d ?y) => apply: keep_right; by_factors
  | |- @GRing.mul _ ?x ?y = @GRing.mul _ (@GRing.mul _ ?c ?y) ?d => apply: keep_left; by_factors
  | |- _ = @GRing.mul _ (GRing.one _) _ => symmetry; apply: mul1r
  | |- _ = @GRing.mul _ _ (GRing.one _) => symmetry; apply: mulr1
  | |- @GRing.mul _ _ _ = @GRing.mul _ _ _ => apply: mulrC
  end.

(* The last factor of b that `wanted` accepts, and the product of the others *)
Ltac take_factor R wanted b :=
  match b with
  | @GRing.mul _ ?x ?y => let _ := match goal with _ => wanted y end in constr:((y, x))
  | @GRing.mul _ ?x ?y =>
    let p := take_factor R wanted x in
    lazymatch p with (?k, ?r) => let q := eval cbv beta in (r * y) in constr:((k, q)) end
  | _ => let _ := match goal with _ => wanted b end in let q := eval cbv beta in (1 : R) in constr:((b, q))
  end.

(* The factors of b that do not depend on i, and those that do *)
Ltac split_factors R i b :=
  lazymatch b with
  | ?x * ?y =>
    let p := split_factors R i x in
    lazymatch p with (?c, ?d) => lazymatch y with context [i] => constr:((c, d * y)) | _ => constr:((c * y, d)) end end
  | context [i] => constr:((1 : R, b))
  | _ => constr:((b, 1 : R))
  end.

Ltac is_literal n := lazymatch n with O => idtac | S ?k => is_literal k end.
Ltac is_numeral x := lazymatch x with @GRing.natmul _ _ ?n => is_literal n end.
Ltac is_sum x := lazymatch x with @BigOp.bigop _ _ _ _ _ => idtac end.
(* (i == k)%:R or (k == i)%:R, where k does not depend on i *)
Ltac is_delta i x :=
  let free k := lazymatch k with context [i] => fail | _ => idtac end in
  lazymatch x with
  | @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ i ?k)) => free k
  | @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ ?k i)) => free k
  end.

(* Equal up to the way in which MathComp's structures were inferred *)
Ltac alike x y :=
  lazymatch x with
  | @GRing.add _ ?a ?b => lazymatch y with @GRing.add _ ?c ?d => alike a c; alike b d end
  | @GRing.mul _ ?a ?b => lazymatch y with @GRing.mul _ ?c ?d => alike a c; alike b d end
  | @GRing.opp _ ?a => lazymatch y with @GRing.opp _ ?c => alike a c end
  | @GRing.inv _ ?a => lazymatch y with @GRing.inv _ ?c => alike a c end
  | GRing.one _ => lazymatch y with GRing.one _ => idtac end
  | @GRing.natmul _ ?a ?n => lazymatch y with @GRing.natmul _ ?c n => alike a c end
  | @fun_of_matrix _ _ _ ?A ?i ?j => lazymatch y with @fun_of_matrix _ _ _ A i j => idtac end
  | @Num.sqrt _ ?a => lazymatch y with @Num.sqrt _ ?c => alike a c end
  | @BigOp.bigop _ _ _ ?r ?f => lazymatch y with @BigOp.bigop _ _ _ r f => idtac end
  | ?f ?a => lazymatch y with f ?c => alike a c end
  | _ => constr_eq x y
  end.

(* b without the factor x *)
Ltac without R x b :=
  let p := take_factor R ltac:(fun y => alike x y) b in lazymatch p with (_, ?r) => constr:(r) end.

(* ---- The normal form of a number ----

   `normal` turns e in a goal e = ?x into a sum of products. Each sum over an index contains a single product, without factors that do
   not depend on the index. Every tactic here leaves its result in ?x, so that nothing is computed twice. *)

Section NormalForm.
Variable R : comRingType.
Lemma each n (f g : 'I_n -> R) : (forall i, f i = g i) -> \sum_(i < n) f i = \sum_(i < n) g i.
Proof. by move=> fg; apply: eq_bigr. Qed.
Lemma take_out n (f g : 'I_n -> R) c s : (forall i, f i = c * g i) -> \sum_(i < n) g i = s -> \sum_(i < n) f i = c * s.
Proof. by move=> fg <-; rewrite mulr_sumr; apply: eq_bigr. Qed.
Lemma count n : \sum_(i < n) (1 : R) = n%:R. Proof. by rewrite sumr_const card_ord. Qed.
Lemma sum0 n : \sum_(i < n) (0 : R) = 0. Proof. exact: big1. Qed.
Lemma sum_one (f : 'I_1 -> R) : \sum_(i < 1) f i = f ord0.
Proof. by rewrite big_ord1; congr f; apply: val_inj. Qed.
Lemma pick n (k : 'I_n) (f g : 'I_n -> R) : (forall i, f i = (i == k)%:R * g i) -> \sum_(i < n) f i = g k.
Proof.
move=> fg; rewrite (bigD1 k) //= fg eqxx mul1r big1 ?addr0 // => i /negbTE ik.
by rewrite fg ik mul0r.
Qed.
Lemma pick_turned n (k : 'I_n) (f g : 'I_n -> R) : (forall i, f i = (k == i)%:R * g i) -> \sum_(i < n) f i = g k.
Proof. by move=> fg; apply: pick => i; rewrite eq_sym. Qed.
Lemma deltaM (b : bool) : b%:R * b%:R = b%:R :> R. Proof. by case: b; rewrite ?mul1r ?mul0r. Qed.
End NormalForm.

Lemma cancelled (F : fieldType) (m x r q : F) : m = x^-1 * r -> r = x * q -> x != 0 -> m = q.
Proof. by move=> -> -> x0; rewrite mulKf. Qed.
Lemma root_twice (F : rcfType) (m x r q : F) : m = Num.sqrt x * r -> r = Num.sqrt x * q -> 0 <= x -> m = x * q.
Proof. by move=> -> -> x0; rewrite mulrA -expr2 sqr_sqrtr. Qed.
Lemma root_below_twice (F : rcfType) (m x r q : F) :
  m = (Num.sqrt x)^-1 * r -> r = (Num.sqrt x)^-1 * q -> 0 <= x -> m = x^-1 * q.
Proof. by move=> -> -> x0; rewrite mulrA -invfM -expr2 sqr_sqrtr. Qed.

Lemma root_of_square (F : rcfType) n k : n = (k * k)%N -> Num.sqrt n%:R = k%:R :> F.
Proof. by move=> ->; rewrite natrM -expr2 sqrtr_sqr ger0_norm ?ler0n. Qed.

(* Products of sums are expanded. The match is syntactic, so the numeral 1 + 1 does not count as a sum here. *)
Ltac distribute := repeat match goal with
  | |- context [@GRing.mul _ (@GRing.add _ ?x ?y) ?z] => rewrite (mulrDl x y z)
  | |- context [@GRing.mul _ ?x (@GRing.add _ ?y ?z)] => rewrite (mulrDr x y z)
  | |- context [@GRing.mul _ ?x (@GRing.opp _ ?y)] => rewrite (mulrN x y)
  | |- context [@GRing.mul _ (@GRing.opp _ ?x) ?y] => rewrite (mulNr x y)
  | |- context [@GRing.mul _ ?x (@GRing.mul _ ?y ?z)] => rewrite (mulrA x y z)
  | |- context [@GRing.opp _ (@GRing.add _ ?x ?y)] => rewrite (opprD x y)
  | |- context [@GRing.opp _ (@GRing.opp _ ?x)] => rewrite (opprK x)
  | |- context [@GRing.add _ ?x (@GRing.add _ ?y ?z)] => rewrite (addrA x y z)
  end.

Ltac expand := distribute; rewrite ?(mul1r, mulr1, mul0r, mulr0, addr0, add0r, oppr0, subr0, sub0r);
  repeat match goal with
  | |- context [@GRing.mul _ (@GRing.natmul _ (GRing.one _) (nat_of_bool ?b))
                             (@GRing.natmul _ (GRing.one _) (nat_of_bool ?b))] => rewrite (deltaM _ b)
  end.

Ltac small_powers := repeat match goal with
  | |- context [@GRing.exp _ ?x (S (S ?n))] => lazymatch n with S (S (S _)) => fail | _ => rewrite (exprS x n.+1) end
  | |- context [@GRing.exp _ ?x (S O)] => rewrite (expr1 x)
  end.

(* Goal: \sum_(i < n) f i = ?x, with f i a product. Factors that do not depend on i come out; `inner` handles the rest. *)
Ltac take_out_constants inner :=
  lazymatch goal with |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    let i := fresh "i" in
    let cd := constr:(fun i : 'I_n => ltac:(
      let b := eval cbv beta in (f i) in let p := split_factors R i b in let p := eval cbv beta in p in exact p)) in
    lazymatch cd with fun j => (?c, @?d j) =>
      etransitivity; [apply: (@take_out _ n f d c); [move=> ?; cbv beta; by_factors | inner tt] |] end;
    expand; reflexivity
  end.

(* A sum of products of two entries whose value the claim's file states *)
Ltac known_sum :=
  etransitivity; [apply: each => ?; cbv beta; rewrite ?mul1r; reflexivity | cbv beta];
  match goal with known : forall i k, @BigOp.bigop _ _ _ _ _ = _ |- _ =>
    first [apply: known | etransitivity; [apply: each => ?; apply: mulrC |]; apply: known]
  end.

(* A sum of the first numbers, of their squares or of their cubes. Defined below, where `field` is available. *)
Ltac counted_sum := fail.

(* The same goal. A delta removes the sum. *)
Ltac sum_of_product :=
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (GRing.zero _)) = _ => apply: sum0
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    let i := fresh "i" in
    tryif (let kg := constr:(fun i : 'I_n => ltac:(
             let b := eval cbv beta in (f i) in let p := take_factor R ltac:(fun x => is_delta i x) b in exact p)) in
           lazymatch kg with
           | fun j => (@GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ j ?k)), @?g j) =>
             etransitivity; [apply: (@pick _ n k f g) => ?; cbv beta; by_factors |]
           | fun j => (@GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ ?k j)), @?g j) =>
             etransitivity; [apply: (@pick_turned _ n k f g) => ?; cbv beta; by_factors |]
           end)
    then (cbv beta; rewrite ?eqxx -?[nat_of_bool true]/1%N ?mulr1n; expand; reflexivity)
    else take_out_constants ltac:(fun _ => inner_sum)
  end
(* Goal: \sum_(i < n) d i = ?x, where every factor of d i depends on i *)
with inner_sum :=
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (GRing.one _)) = _ => apply: count
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType _)) _ = _ =>
    cbv beta; etransitivity; [apply: each => ?; cbv beta; rewrite ?mul1r; push_in | first [cbv beta; counted_sum | cbv beta; use_known_sum | reflexivity]]
  end
(* Goal: nested sums of a product = ?x. The outermost sum becomes the innermost if its value is known there. *)
with use_known_sum :=
  lazymatch goal with known : forall i k, @BigOp.bigop _ _ _ _ _ = _ |- _ => idtac end;
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@BigOp.bigop _ _ _ _ _)) = _ =>
    etransitivity; [apply: exchange_big |];
    etransitivity; [apply: each => ?; cbv beta; use_known_sum | cbv beta; sum_of_product]
  | |- _ => take_out_constants ltac:(fun _ => known_sum)
  end
(* Goal: a product = ?x. Factors move into the sums among them. *)
with push_in :=
  lazymatch goal with |- ?m = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    tryif let p := take_factor R is_sum m in
          lazymatch p with (?s, ?r) => etransitivity; [assert (e : m = s * r) by by_factors; exact e |] end
    then (etransitivity; [apply: mulr_suml |]; etransitivity; [apply: each => ?; cbv beta; push_in | reflexivity])
    else (rewrite ?mul1r ?mulrA; reflexivity)
  end.

(* Goal: \sum_(i < n) f i = ?x, with f i a sum of products *)
Ltac sum_of_sum :=
  lazymatch goal with
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@GRing.add _ _ _)) = _ =>
    etransitivity; [apply: big_split | rewrite /=; etransitivity; [apply: (f_equal2 +%R); sum_of_sum |]; expand; reflexivity]
  | |- @BigOp.bigop _ _ _ _ (fun _ => BigBody _ _ _ (@GRing.opp _ _)) = _ =>
    etransitivity; [apply: sumrN |]; etransitivity; [apply: (f_equal -%R); sum_of_sum |]; expand; reflexivity
  | |- _ => sum_of_product
  end.

(* Goal: a sum of products = ?x. Common factors of numerator and denominator cancel, and so do two equal roots. *)
Ltac cancel :=
  lazymatch goal with
  | |- @GRing.add _ _ _ = _ => etransitivity; [apply: (f_equal2 +%R); cancel | reflexivity]
  | |- @GRing.opp _ _ = _ => etransitivity; [apply: (f_equal -%R); cancel | reflexivity]
  | |- ?m = _ =>
    let R := lazymatch goal with |- @eq ?R _ _ => constr:(R) end in
    tryif match m with context [@GRing.inv ?U ?x] =>
      let r := without R (@GRing.inv U x) m in let q := without R x r in
      etransitivity;
      [refine (@cancelled _ m x r q _ _ _); [solve [by_factors] | solve [by_factors] | solve [not_zero_by_sign]] |]
    end then (rewrite ?mul1r; cancel) else
    tryif match m with
    | context [@GRing.inv ?U (@Num.sqrt ?V ?x)] =>
      let r := without R (@GRing.inv U (@Num.sqrt V x)) m in let q := without R (@GRing.inv U (@Num.sqrt V x)) r in
      etransitivity; [refine (@root_below_twice _ m x r q _ _ _); [solve [by_factors] | solve [by_factors] | nonnegative] |]
    | context [@Num.sqrt ?V ?x] =>
      let r := without R (@Num.sqrt V x) m in let q := without R (@Num.sqrt V x) r in
      etransitivity; [refine (@root_twice _ m x r q _ _ _); [solve [by_factors] | solve [by_factors] | nonnegative] |]
    end then (rewrite ?(mul1r, invfM, mulrA); cancel) else reflexivity
  end.

(* The root of a product is the product of the roots. *)
Ltac split_roots := rewrite ?sqrtr1; repeat match goal with
  | |- context [Num.sqrt (@GRing.mul _ ?x ?y)] =>
    let e := fresh "e" in
    assert (e : Num.sqrt (x * y) = Num.sqrt x * Num.sqrt y) by (apply: sqrtrM; nonnegative); rewrite e; clear e
  | |- context [Num.sqrt (@GRing.inv _ ?x)] =>
    let e := fresh "e" in assert (e : Num.sqrt x^-1 = (Num.sqrt x)^-1) by (apply: sqrtrV; nonnegative); rewrite e; clear e
  | |- context [@Num.sqrt ?T (@GRing.natmul _ (GRing.one _) ?n)] =>
    is_literal n; let k := eval compute in (Nat.sqrt n) in rewrite (@root_of_square T n k erefl)
  end; rewrite ?invrK.

(* The value of a number without variables, as a fraction of two integers *)
Ltac fraction_value e := lazymatch e with
  | @GRing.add _ ?a ?b =>
    let x := fraction_value a in let y := fraction_value b in
    lazymatch x with (?p, ?q) => lazymatch y with (?r, ?s) =>
      let n := eval compute in (BinInt.Z.add (BinInt.Z.mul p s) (BinInt.Z.mul r q)) in
      let d := eval compute in (BinInt.Z.mul q s) in constr:((n, d)) end end
  | @GRing.mul _ ?a ?b =>
    let x := fraction_value a in let y := fraction_value b in
    lazymatch x with (?p, ?q) => lazymatch y with (?r, ?s) =>
      let n := eval compute in (BinInt.Z.mul p r) in let d := eval compute in (BinInt.Z.mul q s) in constr:((n, d)) end end
  | @GRing.opp _ ?a => let x := fraction_value a in lazymatch x with (?p, ?q) => let n := eval compute in (BinInt.Z.opp p) in constr:((n, q)) end
  | @GRing.inv _ ?a => let x := fraction_value a in lazymatch x with (BinNums.Zpos ?p, ?q) => constr:((q, BinNums.Zpos p)) end
  | GRing.zero _ => constr:((BinNums.Z0, BinNums.Zpos BinNums.xH))
  | GRing.one _ => constr:((BinNums.Zpos BinNums.xH, BinNums.Zpos BinNums.xH))
  | @GRing.natmul _ (GRing.one _) ?n =>
    let _ := match goal with _ => is_literal n end in let z := eval compute in (BinInt.Z.of_nat n) in constr:((z, BinNums.Zpos BinNums.xH))
  end.

(* A sum as (its terms with variables, the sum of the others as a fraction) *)
Ltac numbers_apart R e := match e with
  | @GRing.add _ ?a ?b =>
    let x := numbers_apart R a in let y := numbers_apart R b in
    lazymatch x with (?s, ?p, ?q) => lazymatch y with (?t, ?r, ?u) =>
      let n := eval compute in (BinInt.Z.add (BinInt.Z.mul p u) (BinInt.Z.mul r q)) in
      let d := eval compute in (BinInt.Z.mul q u) in
      let o := lazymatch s with GRing.zero _ => t | _ => lazymatch t with GRing.zero _ => s | _ => constr:(s + t) end end in
      constr:((o, n, d)) end end
  | _ => let v := fraction_value e in lazymatch v with (?p, ?q) => constr:(((0 : R), p, q)) end
  | _ => constr:((e, BinNums.Z0, BinNums.Zpos BinNums.xH))
  end.

(* Goal: exp e = ?x. Fractions in e become one, in lowest terms. The proof is defined below, where `field` is available. *)
Ltac fractions_equal exp := fail.
Ltac has_fraction e := match e with context [@GRing.inv _ (@GRing.natmul _ (GRing.one _) _)] => idtac end.
Ltac one_fraction := lazymatch goal with |- ?exp ?e = _ =>
  tryif has_fraction e then
    let R := lazymatch type of e with ?R => constr:(R) end in
    let v := numbers_apart R e in
    lazymatch v with
    | (_, _, BinNums.Zpos BinNums.xH) => idtac
    | (?o, ?p, ?q) =>
      let g := eval compute in (BinInt.Z.gcd p q) in
      let n := eval compute in (BinInt.Z.to_nat (BinInt.Z.div (BinInt.Z.abs p) g)) in
      let d := eval compute in (BinInt.Z.to_nat (BinInt.Z.div q g)) in
      let f := lazymatch d with 1%N => constr:(n%:R : R) | _ => lazymatch n with 1%N => constr:(d%:R^-1 : R) | _ => constr:(n%:R * d%:R^-1 : R) end end in
      let f := eval cbv beta in f in
      let whole := lazymatch p with
        | BinNums.Z0 => constr:(o)
        | BinNums.Zpos _ => lazymatch o with GRing.zero _ => constr:(f) | _ => constr:(o + f) end
        | BinNums.Zneg _ => lazymatch o with GRing.zero _ => constr:(- f) | _ => constr:(o - f) end
        end in
      tryif constr_eq whole e then idtac else
      (etransitivity; [apply: (f_equal exp); assert (h : e = whole) by fractions_equal exp; exact: h |])
    end
  else idtac end.

(* The exponential of a sum is a product, and that of a multiple is a power. *)
Ltac exponents E P :=
  let exp := lazymatch type of P with forall x, is_true (@Order.lt _ _ _ (?exp x)) => exp end in
  repeat match goal with
  | |- context [exp (@GRing.add _ _ _)] => rewrite E
  | |- context [exp (@GRing.opp _ _)] => rewrite (exp_opposite E P)
  | |- context [exp (GRing.zero _)] => rewrite (exp_zero E P)
  | |- context [exp (@GRing.natmul _ (GRing.one _) (S ?n))] => is_literal n; rewrite (exp_numeral E P n.+1)
  | |- context [exp (@GRing.mul _ (@GRing.natmul _ (GRing.one _) ?n) ?r)] => is_literal n; rewrite (exp_multiple E P n r)
  | |- context [exp ?b] =>
    let R := lazymatch type of b with ?R => constr:(R) end in
    let p := take_factor R is_numeral b in lazymatch p with (@GRing.natmul _ _ ?n, ?r) =>
      let e := fresh "e" in assert (e : b = n%:R * r) by by_factors; rewrite e (exp_multiple E P); clear e end
  end.

Ltac is_compound e :=
  lazymatch e with _ + _ => idtac | _ * _ => idtac | - _ => idtac | _^-1 => idtac | @BigOp.bigop _ _ _ _ _ => idtac end.

(* Goal: e = ?x. Other preludes extend this with what they know about e. *)
Ltac taken_further := fail.

(* Goal: e = ?x *)
Ltac normal :=
  lazymatch goal with
  | |- ?a + ?b = _ => etransitivity; [apply: (f_equal2 +%R); normal |]; expand; reflexivity
  | |- ?a * ?b = _ => etransitivity; [apply: (f_equal2 *%R); normal |]; expand; cancel
  | |- - ?a = _ => etransitivity; [apply: (f_equal -%R); normal |]; expand; reflexivity
  | |- @GRing.inv _ (@GRing.mul _ _ _) = _ => rewrite invfM; normal
  | |- ?a ^-1 = _ =>
    etransitivity; [apply: (f_equal GRing.inv); normal |]; rewrite ?(invfM, invrN, invrK, invr1); reflexivity
  | |- @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ ?i ?i)) = _ => rewrite eqxx; exact: mulr1n
  | |- @GRing.natmul _ (GRing.one _) (nat_of_bool (@eq_op _ (@Ordinal _ _ _) (@Ordinal _ _ _))) = _ => exact: mulr0n
  | |- @GRing.natmul _ (GRing.one _) ?n = _ => reflexivity
  | |- ?a ^+ ?n = _ =>
    etransitivity; [apply: (f_equal (fun t => t ^+ n)); normal |];
    tryif lazymatch goal with |- @GRing.exp _ ?b _ = _ => is_compound b end
    then rewrite ?(exprS, expr0, mulr1) else small_powers; expand; reflexivity
  | |- @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) _ = _ =>
    tryif (match n with
           | 1%N => rewrite sum_one
           | _ => match goal with H : forall f : 'I_n -> _, _ = _ |- _ => rewrite H end
           end)
    then normal else (etransitivity; [apply: each => ?; normal | cbv beta; sum_of_sum])
  | E : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y),
    P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- ?exp ?a = _ =>
    etransitivity; [apply: (f_equal exp); normal |]; one_fraction; exponents E P; small_powers; expand; cancel
  | |- `|?a| = _ => etransitivity; [apply: (f_equal Num.norm); normal |]; reflexivity
  | |- Num.sqrt _ = _ =>   (* split roots before expanding: a sum has no root of this form *)
    split_roots;
    lazymatch goal with
    | |- Num.sqrt _ = _ => etransitivity; [apply: (f_equal Num.sqrt); normal |]; split_roots; expand; reflexivity
    | |- _ => normal
    end
  | |- fun_of_matrix (softmax_rows _ _) _ _ = _ => rewrite softmax_rowsE; normal
  | |- fun_of_matrix (softmax_column _ _) _ _ = _ => rewrite softmax_columnE; normal
  | |- fun_of_matrix (written _ _ _) _ _ = _ =>
    rewrite writtenE;
    lazymatch goal with |- ?e = _ => let v := eval cbv [nth nat_of_ord ord0] in e in change e with v end; normal
  | |- fun_of_matrix _ _ _ = _ => tryif (progress rewrite mxE) then normal else reflexivity
  | |- _ => tryif taken_further then normal else reflexivity
  end.

(* An axis of size 1 has one place. *)
Lemma one_place (i : 'I_1) : i = ord0. Proof. by rewrite ord1; apply: val_inj. Qed.
Ltac one_places := repeat match goal with
  | |- context [@Ordinal 1 0 ?p] => rewrite (one_place (@Ordinal 1 0 p))
  | H : context [@Ordinal 1 0 ?p] |- _ => rewrite (one_place (@Ordinal 1 0 p)) in H
  | i : 'I_1 |- _ => rewrite ?(one_place i); clear i
  end.

(* Goal: a number is not zero -> ... Then its factors are not zero either. *)
Lemma not_zero_factors (F : fieldType) (x y : F) : x * y != 0 -> x != 0 /\ y != 0.
Proof. by rewrite mulf_eq0 negb_or => /andP. Qed.
Ltac nonzero_factors := lazymatch goal with
  | |- is_true (negb (@eq_op _ (@GRing.mul _ _ _) _)) -> _ => case/not_zero_factors; nonzero_factors; nonzero_factors
  | |- is_true (negb (@eq_op _ (@GRing.inv _ _) _)) -> _ => rewrite invr_eq0; nonzero_factors
  | |- _ => move=> ?
  end.

(* The normal form of an assumption, next to the assumption *)
Ltac normal_fact H :=
  let e := fresh "e" in one_places;
  lazymatch type of H with
  | is_true (negb (@eq_op _ ?x _)) => eassert (e : x = _); [normal |]; have := H; rewrite ?{1}e; nonzero_factors; clear e
  | is_true (@Order.lt _ _ _ ?x) => eassert (e : x = _); [normal |]; have := H; rewrite ?{1}e => ?; clear e
  end.

(* ---- Facts for `field` ---- *)

(* Denominators are not zero, in the goal and in hypotheses: first those inside sums over an index, then all others. *)
Ltac denominators :=
  let sum_below e := match e with context [@BigOp.bigop ?T ?I ?z ?r ?f] =>
      lazymatch goal with H : is_true (@Order.lt _ _ _ (@BigOp.bigop T I z r f)) |- _ => fail | _ => idtac end;
      have : 0 < @BigOp.bigop T I z r f by [apply: sum_gt0 => // ?; positive]; (move=> ?) end in
  let below e :=
    lazymatch goal with H : is_true (negb (@eq_op _ e _)) |- _ => fail | _ => idtac end;
    have : e != 0 by [not_zero_by_sign]; (move=> ?) in
  let each_denominator tactic := repeat match goal with
    | |- context [@GRing.inv _ ?e] => tactic e
    | H : is_true (negb (@eq_op _ ?g _)) |- _ => match g with context [@GRing.inv _ ?e] => tactic e end
    end in
  each_denominator sum_below; each_denominator below.

(* The form of 1 + (n - 1) x shows its sign, but its expansion does not. *)
Ltac written_denominators := repeat match goal with |- context [@GRing.inv _ ?e] =>
    lazymatch e with @GRing.add _ _ _ => lazymatch e with context [@GRing.opp _ _] => idtac end end;
    lazymatch goal with H : is_true (negb (@eq_op _ e _)) |- _ => fail | _ => idtac end;
    let fact := fresh "fact" in have fact : e != 0 by [not_zero_by_sign]; normal_fact fact end.

(* The square of a root is the number under the root. *)
Ltac root_facts :=
  repeat match goal with |- context [Num.sqrt ?e] =>
    lazymatch goal with H : @GRing.mul _ (Num.sqrt e) (Num.sqrt e) = _ |- _ => fail | _ => idtac end;
    let fact := fresh "root" in have fact : Num.sqrt e * Num.sqrt e = e by (rewrite -expr2 sqr_sqrtr //; nonnegative);
    try (have : 0 < Num.sqrt e by [rewrite sqrtr_gt0; positive]; move=> ?)
  end.

(* ---- Reification: a term in the operations that `ring` and `field` know ----

   C is the commutative ring, and F is the field, or tt if there is none. *)

Ltac spelled_sum C n := lazymatch n with
  | O => constr:(@zero C)
  | S O => constr:(@one C)
  | S ?k => let r := spelled_sum C k in constr:(@plus C (@one C) r)
  end.
Ltac spelled_power C a n := lazymatch n with
  | O => constr:(@one C)
  | S O => constr:(a)
  | S ?k => let r := spelled_power C a k in constr:(@times C a r)
  end.
Ltac spelled C F e := lazymatch e with
  | @GRing.add _ ?a ?b => let a := spelled C F a in let b := spelled C F b in constr:(@plus C a b)
  | @GRing.mul _ ?a ?b => let a := spelled C F a in let b := spelled C F b in constr:(@times C a b)
  | @GRing.opp _ ?a => let a := spelled C F a in constr:(@opposite C a)
  | @GRing.inv _ ?a => let a := spelled C F a in lazymatch F with tt => constr:(e) | _ => constr:(@reciprocal F a) end
  | GRing.zero _ => constr:(@zero C)
  | GRing.one _ => constr:(@one C)
  | @GRing.natmul _ (GRing.one _) ?n =>
    match n with _ => let _ := match goal with _ => is_literal n end in spelled_sum C n | _ => constr:(@numeral C n) end
  | @GRing.exp _ ?a ?n =>
    let a := spelled C F a in
    match n with _ => let _ := match goal with _ => is_literal n end in spelled_power C a n | _ => constr:(@power C a n) end
  | @BigOp.bigop _ _ _ (index_enum (ordinal_finType ?n)) (fun i => @BigBody _ _ i _ true (@?f i)) =>
    let i := fresh "i" in
    let g := constr:(fun i : 'I_n => ltac:(let b := eval cbv beta in (f i) in let b := spelled C F b in exact b)) in
    constr:(@total C n g)
  | @fun_of_matrix _ ?m ?n ?A ?i ?j => constr:(@entry C m n A i j)
  | @Num.sqrt ?T ?a => let a := spelled C F a in constr:(@Num.sqrt T a)
  | @Num.norm ?T ?V ?a => let a := spelled C F a in constr:(@Num.norm T V a)
  | ?f ?a => let a := spelled C F a in constr:(f a)
  | _ => constr:(e)
  end.

(* Runs k on C and F, as the claim's file declared them *)
Ltac declared R k :=
  match R with
  | _ => let T := type of (field_of R) in
    lazymatch T with @field_theory _ (zero ?C) _ _ _ _ _ _ (@reciprocal ?F) _ => k C F end
  | _ => let T := type of (ring_of R) in lazymatch T with @ring_theory _ (zero ?C) _ _ _ _ _ _ => k C tt end
  end.

Ltac spell_in C F :=
  repeat match goal with H : is_true (negb (@eq_op _ ?e _)) |- _ =>
    let e' := spelled C F e in
    lazymatch goal with _ : is_true (@not_zero _ e') |- _ => fail | _ => idtac end;
    have : not_zero e' by [exact: H]; move=> ? end;
  repeat match goal with H : is_true (@Order.lt _ _ (GRing.zero _) ?e) |- _ =>
    let e' := spelled C F e in
    lazymatch goal with _ : is_true (@above_zero _ e') |- _ => fail | _ => idtac end;
    have : above_zero e' by [exact: H]; move=> ? end;
  repeat match goal with H : @GRing.mul _ ?a ?b = ?e |- _ =>
    let a' := spelled C F a in let e' := spelled C F e in change (@times C a' a' = e') in H end;
  lazymatch goal with |- ?a = ?b => let a' := spelled C F a in let b' := spelled C F b in change (a' = b') end.
Ltac spell R := declared R ltac:(fun C F => spell_in C F).
Ltac unspell := rewrite ?/zero ?/one ?/plus ?/times ?/opposite ?/numeral ?/power ?/entry ?/reciprocal.

(* ---- Comparing normal forms ----

   For `ring` and `field`, a sum over an index, an exponential and a root are variables. Equal ones become the same variable: sums whose
   terms are equal, or that are nested in another order. Then `ring` or `field` decides. *)

Section Compare.
Variable C : comRingType.
Lemma total_each n (f g : 'I_n -> C) : (forall i, f i = g i) -> total f = total g. Proof. exact: each. Qed.
Lemma total_swap m n (f : 'I_m -> 'I_n -> C) : total (fun i => total (f i)) = total (fun j => total (fun i => f i j)).
Proof. exact: exchange_big. Qed.
End Compare.

(* Goal: nested sums = ?x. The sum at depth k moves to the outside. *)
Ltac bring_out k :=
  lazymatch k with
  | O => reflexivity
  | S ?l => etransitivity; [apply: total_each => ?; bring_out l | cbv beta; apply: total_swap]
  end.

(* `ring` needs the ring as it was declared, even for a root or a norm in a field. *)
Ltac by_ring := first
  [ reflexivity | ring
  | lazymatch goal with |- ?a = ?b =>
      lazymatch goal with
      | |- context [@plus ?C _ _] => change (@eq (GRing.ComRing.sort C) a b)
      | |- context [@times ?C _ _] => change (@eq (GRing.ComRing.sort C) a b)
      end
    end; ring ].

Ltac same_kind u t :=
  lazymatch u with
  | @total _ _ _ => lazymatch t with @total _ _ _ => idtac end
  | @eq_op _ _ _ => lazymatch t with @eq_op _ _ _ => idtac end
  | ?f _ => lazymatch t with f _ => idtac end
  end.

(* Replaces t by a variable: by an existing one that `same` proves equal, or by a new one. *)
Ltac hide t same :=
  tryif match goal with known : ?u = ?s |- _ => is_var s; same_kind u t;
      let e := fresh "e" in let x := fresh "x" in
      (assert (e : t = s) by (refine (etrans _ known); solve [same tt]));
      set (x := t) in *; clearbody x; subst x end
  then idtac else
  let s := fresh "s" in let known := fresh "known" in
  set (s := t) in *; pose proof (@Logic.eq_refl _ s : t = s) as known; clearbody s.

(* What else becomes a variable, in preludes with more functions *)
Ltac hide_function := fail.

Ltac hide_all :=
  repeat match goal with |- context [@total ?C ?n ?f] => hide (@total C n f) ltac:(fun _ => same_sum) end;
  repeat match goal with
  | P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- context [?exp ?a] =>
    (have : above_zero (exp a) by [exact: P]); move=> ?; hide (exp a) ltac:(fun _ => apply: (f_equal exp); by_ring)
  | |- context [@Num.sqrt ?T ?a] => hide (@Num.sqrt T a) ltac:(fun _ => apply: (f_equal (@Num.sqrt T)); by_ring)
  | |- context [@Num.norm ?T ?V ?a] => hide (@Num.norm T V a) ltac:(fun _ => apply: (f_equal (@Num.norm T V)); by_ring)
  | |- context [nat_of_bool (@eq_op ?T ?a ?b)] => hide (@eq_op T a b) ltac:(fun _ => first [reflexivity | apply: eq_sym])
  end;
  repeat hide_function
with hide_reciprocals := repeat match goal with
  | |- context [@reciprocal ?F ?a] => hide (@reciprocal F a) ltac:(fun _ => apply: (f_equal (@reciprocal F)); by_ring)
  end
with same_sum := cbv beta;
  lazymatch goal with
  | |- @total _ _ _ = @total _ _ _ => first
    [ solve [apply: total_each => ?; same_sum]
    | solve [symmetry; etransitivity; [bring_out 1%N | symmetry; apply: total_each => ?; same_sum]]
    | solve [symmetry; etransitivity; [bring_out 2%N | symmetry; apply: total_each => ?; same_sum]]
    | solve [symmetry; etransitivity; [bring_out 3%N | symmetry; apply: total_each => ?; same_sum]] ]
  | |- @total _ _ _ = _ => fail
  | |- _ = @total _ _ _ => fail
  | |- _ => hide_all; first [by_ring | hide_reciprocals; by_ring]
  end.

Lemma nonzero_multiple (F : fieldType) (m e g : GRing.ComRing.sort F) :
  (m : F) != 0 -> (e : F) != 0 -> g = times m e -> (g : F) != 0.
Proof. by move=> m0 e0 ->; apply: mulf_neq0. Qed.

(* `field` leaves numerals unfolded, and `ring` does not recognize them. *)
Ltac spelled_again C e := lazymatch e with
  | @plus _ ?a ?b => let a := spelled_again C a in let b := spelled_again C b in constr:(@plus C a b)
  | @times _ ?a ?b => let a := spelled_again C a in let b := spelled_again C b in constr:(@times C a b)
  | @opposite _ ?a => let a := spelled_again C a in constr:(@opposite C a)
  | match _ with _ => _ end ?a ?b =>
    let f := lazymatch e with ?f _ _ => f end in
    let a := spelled_again C a in let b := spelled_again C b in
    match C with
    | _ => let _ := match goal with _ => unify f (@plus C) end in constr:(@plus C a b)
    | _ => constr:(@times C a b)
    end
  | match _ with _ => _ end ?a => let a := spelled_again C a in constr:(@opposite C a)
  | match _ with _ => _ end => constr:(@one C)
  | _ => e
  end.

Ltac is_counted k := lazymatch k with
  | one _ => idtac
  | plus ?a ?b => is_counted a; is_counted b
  | times ?a ?b => is_counted a; is_counted b
  end.

(* Goal: a number is not zero. It is the product of a nonzero number of the context with another, or with a numeral of the goal. *)
Ltac multiple_of_nonzero :=
  try match goal with |- is_true (negb (@eq_op ?T (@plus ?C ?a ?b) ?z)) =>
    let g := spelled_again C (@plus C a b) in change (is_true (negb (@eq_op T g z))) end;
  let nonzero_known := first [assumption | unspell; not_zero_by_sign] in
  let multiple m H :=
    solve [apply: (nonzero_multiple (m := m) _ H);
           [nonzero_known | field; repeat match goal with |- _ /\ _ => split end; apply/eqP; nonzero_known]] in
  match goal with
  | H : is_true (negb (@eq_op _ _ _)) |- context [@times ?C ?m _] => is_counted m; multiple m H
  | M : is_true (negb (@eq_op _ ?m _)), H : is_true (negb (@eq_op _ _ _)) |- _ => multiple m H
  end.

(* The side conditions that `field` leaves *)
Ltac nonzero :=
  repeat match goal with |- _ /\ _ => split end;
  repeat match goal with
  | H : is_true (@not_zero _ _) |- _ => unfold not_zero in H
  | H : is_true (@above_zero _ _) |- _ => unfold above_zero in H
  end;
  apply/eqP;
  first [ assumption
        | match goal with H : is_true (negb (@eq_op _ ?e _)) |- is_true (negb (@eq_op _ ?g _)) =>
            let eq := fresh in (assert (eq : g = e) by ring); rewrite eq; exact H end
        | unspell; not_zero_by_sign
        | multiple_of_nonzero ].

(* A number whose root occurs is replaced by the square of its root, so no fact about that root is needed. *)
Ltac is_single e := lazymatch e with numeral _ _ => idtac | _ => is_var e end.
Ltac squares_of_roots := repeat match goal with
  | H : ?a = ?a |- _ => clear H
  | H1 : times ?a ?a = ?e, H2 : times ?a ?a = ?e |- _ => clear H2
  | H : times _ _ = ?e |- _ => is_single e; let x := fresh "x" in set (x := e) in *; clearbody x; subst x
  end.

(* The facts about other roots are equations between products, and `field` can use them. *)
Ltac field_with_roots := squares_of_roots; lazymatch goal with
  | H1 : times ?a ?a = _, H2 : times ?b ?b = _, H3 : times ?c ?c = _ |- _ => field [H1 H2 H3]
  | H1 : times ?a ?a = _, H2 : times ?b ?b = _ |- _ => field [H1 H2]
  | H1 : times ?a ?a = _ |- _ => field [H1]
  | _ => field
  end.

Ltac compare R := denominators; root_facts; spell R; hide_all; first [by_ring | field_with_roots; nonzero].
Ltac fractions_equal exp ::= let T := type of exp in lazymatch T with ?sort ?R -> _ => compare R end.

(* ---- Sums of powers of the index ---- *)

Section PowerSums.
Variable F : realFieldType.
Add Field F_field : (field_of F).
Ltac by_steps n := let k := fresh "k" in let before := fresh "before" in
  elim: n => [|k before]; [by rewrite big_ord0 !mul0r ?addr0 | rewrite big_ord_recr /= before !(mulrS _ k); compare F].
Lemma sum_of_numbers n : \sum_(i < n) i.+1%:R = n%:R * n%:R * 2%:R^-1 + n%:R * 2%:R^-1 :> F.
Proof. by_steps n. Qed.
Lemma sum_of_squares n :
  \sum_(i < n) i.+1%:R * i.+1%:R = n%:R * n%:R * n%:R * 3%:R^-1 + n%:R * n%:R * 2%:R^-1 + n%:R * 6%:R^-1 :> F.
Proof. by_steps n. Qed.
Lemma sum_of_cubes n : \sum_(i < n) i.+1%:R * i.+1%:R * i.+1%:R =
  n%:R * n%:R * n%:R * n%:R * 4%:R^-1 + n%:R * n%:R * n%:R * 2%:R^-1 + n%:R * n%:R * 4%:R^-1 :> F.
Proof. by_steps n. Qed.
End PowerSums.

Ltac counted_sum ::= lazymatch goal with |- @BigOp.bigop _ _ _ _ ?f = _ =>
  lazymatch f with context [@GRing.natmul _ (GRing.one _) (S (nat_of_ord _))] =>
    first [apply: sum_of_numbers | apply: sum_of_squares | apply: sum_of_cubes] end end.

(* ---- The proofs of the claims ---- *)

(* A sum over a known number of places, term by term; and the fact that these are all the places *)
Ltac write_out :=
  let f := fresh "f" in
  move=> f; rewrite !big_ord_recl big_ord0 addr0 ?addrA; repeat apply: (f_equal2 +%R); apply: (f_equal f); exact: val_inj.
Ltac every_place := clear; intros; let k := fresh "k" in let below := fresh "below" in
  match goal with i : 'I_?n |- ?P _ => destruct i as [k below] end;
  repeat first
    [ solve [exfalso; move: below; rewrite ?ltnS ltn0; discriminate]
    | destruct k as [| k];
      [match goal with H : ?P ?j |- ?P ?i => have -> : i = j by [apply: val_inj]; exact: H end |] ].

Ltac place_by_place := repeat match goal with
  | i : 'I_?n, every : forall P : 'I_?n -> Prop, _ |- context [written] => move: i; apply: every
  end.

Ltac no_sums := lazymatch goal with |- context [@BigOp.bigop] => fail | _ => idtac end.

(* A norm is the number or its opposite, if one of them is assumed not to be negative, or is the sum of two numbers that are assumed not
   to be. *)
Section Norms.
Variable R : realFieldType.
Implicit Types x y z : R.
Lemma norm_same x y : x = y -> 0 <= y -> `|x| = x. Proof. by move=> ->; apply: ger0_norm. Qed.
Lemma norm_turned x y : - x = y -> 0 <= y -> `|x| = - x. Proof. by move=> xy; rewrite -xy oppr_ge0; apply: ler0_norm. Qed.
End Norms.
Ltac known_norms R :=
  let seen x y := first [ assert (Num.norm x = x) as -> by (apply: (@norm_same _ x y); [compare R | nonnegative])
                        | assert (Num.norm x = - x) as -> by (apply: (@norm_turned _ x y); [compare R | nonnegative]) ] in
  repeat match goal with
  | H : is_true (_ 0 ?y) |- context [@Num.norm _ _ ?x] => seen x y
  | H : is_true (_ 0 ?y), K : is_true (_ 0 ?z) |- context [@Num.norm _ _ ?x] => seen x (y + z)
  end.

(* The difference of the exponents is assumed not to be negative, or is the sum of two such numbers. *)
Lemma same_ge0 (R : realFieldType) (x y : R) : x = y -> 0 <= y -> 0 <= x. Proof. by move=> ->. Qed.
Ltac sum_of_assumed R :=
  repeat match goal with H : forall _ : 'I_?n, is_true (_ 0 _), i : _ |- _ =>
    let fact := fresh "fact" in have fact := H i;
    lazymatch type of fact with ?P => lazymatch goal with _ : P, _ : P |- _ => fail | _ => idtac end end end;
  match goal with
  | H : is_true (_ 0 ?y) |- is_true (_ 0 ?x) => solve [apply: (@same_ge0 _ x y); [compare R | nonnegative]]
  | H : is_true (_ 0 ?y), K : is_true (_ 0 ?z) |- is_true (_ 0 ?x) =>
    solve [apply: (@same_ge0 _ x (y + z)); [compare R | nonnegative]]
  end.
Ltac exponents_in_order ::= lazymatch goal with increasing : forall x y, _ -> is_true (@Order.le _ _ (?exp x) (?exp y)) |- _ =>
  rewrite subr_ge0; apply: increasing; rewrite -subr_ge0;
  let T := type of exp in lazymatch T with ?sort ?R -> _ => sum_of_assumed R end end.

(* Without sums over an index, nothing needs to be expanded. *)
Ltac plain_numbers R :=
  no_sums; rewrite ?mxE; no_sums;
  try match goal with
  | E : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y),
    P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- _ => exponents E P
  end;
  compare R.
Ltac numbers R := written_denominators; (etransitivity; [normal |]); symmetry; (etransitivity; [normal |]); symmetry; compare R.
Ltac entrywise R := try (apply/matrixP => ? ?); one_places; known_norms R; place_by_place; first [solve [plain_numbers R] | numbers R].
Ltac matrices R := multiply_out; hide_products; entrywise R.
