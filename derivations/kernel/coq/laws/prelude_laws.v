(* The prelude of files about laws: definitions of expectation, variance and independence, and the tactics that compute expectations.

   Random variables are elements of a commutative ring, Random, and `constant` embeds the numbers in it. An expectation is a function
   from Random to the numbers; a claim's file assumes that it is linear and that the expectation of 1 is 1. Random variables with finite
   moments on a probability space are an instance of this. Everything here is proved; there are no axioms. *)
From Derivations Require Export Prelude.
Set Implicit Arguments.
Unset Strict Implicit.
Local Open Scope ring_scope.

(* ---- Definitions that claims use ---- *)

Section Words.
Variables (R Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R).

Definition variance (x : Random) : R := expectation ((x - constant (expectation x)) ^+ 2).

(* A family of random variables is independent if the expectation of a product of powers is the product of the expectations. *)
Definition independent (I : finType) (x : I -> Random) : Prop :=
  forall a : I -> nat, expectation (\prod_i x i ^+ a i) = \prod_i expectation (x i ^+ a i).
(* The same for powers up to n. Higher powers need not have an expectation. *)
Definition independent_to n (I : finType) (x : I -> Random) : Prop :=
  forall a : I -> nat, (forall i, (a i <= n)%N) -> expectation (\prod_i x i ^+ a i) = \prod_i expectation (x i ^+ a i).

(* The entries of a tensor as a family, a single variable as a family, and the union of two families *)
Definition entries m n (A : 'M[Random]_(m, n)) (p : 'I_m * 'I_n) : Random := A p.1 p.2.
Definition single (x : Random) (_ : unit) : Random := x.
Definition along (I J : finType) (x : I -> Random) (y : J -> Random) (p : I + J) : Random :=
  match p with inl i => x i | inr j => y j end.

(* The moments of a normal variable: each follows from the two below it. *)
Definition normal_moments (x : Random) : Prop :=
  forall n, expectation (x ^+ n.+2) = expectation x * expectation (x ^+ n.+1) + n.+1%:R * (variance x * expectation (x ^+ n)).

Definition is_linear : Prop :=
  [/\ forall x y, expectation (x + y) = expectation x + expectation y,
      forall c x, expectation (constant c * x) = c * expectation x & expectation 1 = 1].
End Words.

(* If a claim contains exponentials of random variables, its file assumes a function from random variables to random variables. *)
Section Exponentials.
Variables (R : realFieldType) (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R).
Variables (exp : R -> R) (exponential : Random -> Random).

(* The expectation of the exponential of a normal variable, from its mean and its variance *)
Definition normal_exponentials (x : Random) : Prop := forall a : R,
  expectation (exponential (constant a * x)) = exp (a * expectation x + a ^+ 2 * variance constant expectation x / 2%:R).

(* Independence for products of exponentials *)
Definition independent_exponentials (I : finType) (x : I -> Random) : Prop := forall a : I -> R,
  expectation (\prod_i exponential (constant (a i) * x i)) = \prod_i expectation (exponential (constant (a i) * x i)).
End Exponentials.

(* ---- Expectations of sums, and of products of entries ---- *)

Section Linear.
Variables (R Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R).
Hypothesis linear : is_linear constant expectation.
Implicit Types x y : Random.

Lemma mean_add x y : expectation (x + y) = expectation x + expectation y. Proof. by case: linear. Qed.
Lemma mean_scaled c x : expectation (constant c * x) = c * expectation x. Proof. by case: linear. Qed.
Lemma mean_one : expectation 1 = 1. Proof. by case: linear. Qed.
Lemma mean_constant c : expectation (constant c) = c. Proof. by rewrite -[constant c]mulr1 mean_scaled mean_one mulr1. Qed.
Lemma mean_zero : expectation 0 = 0. Proof. by rewrite -(rmorph0 constant) mean_constant. Qed.
Lemma mean_opp x : expectation (- x) = - expectation x.
Proof. by apply/eqP; rewrite -subr_eq0 opprK -mean_add addNr mean_zero. Qed.
Lemma mean_sum n (f : 'I_n -> Random) : expectation (\sum_(i < n) f i) = \sum_(i < n) expectation (f i).
Proof. exact: (big_morph expectation mean_add mean_zero). Qed.

Lemma variance_moments x : variance constant expectation x = expectation (x * x) - expectation x * expectation x.
Proof.
rewrite /variance; set c := expectation x.
have -> : (x - constant c) ^+ 2 = x * x - constant c * x - constant c * x + constant (c * c).
  by rewrite rmorphM sqrrB mulr2n opprD !addrA !expr2 (mulrC x).
by rewrite !mean_add !mean_opp !mean_scaled mean_constant -/c subrK.
Qed.

(* -- A product of entries, given by the list of their indices -- *)
Section Chosen.
Variables (I : finType) (x : I -> Random).
Definition chosen (s : seq I) : Random := \prod_(i <- s) x i.

Lemma chosen_powers s : chosen s = \prod_i x i ^+ count_mem i s.
Proof.
rewrite /chosen; elim: s => [|k s IH]; first by rewrite big_nil big1 // => i _; rewrite expr0.
rewrite [RHS](eq_bigr (fun i => x i ^+ (k == i) * x i ^+ count_mem i s)) => [|i _]; last by rewrite /= -exprD.
rewrite big_cons IH big_split /=; congr (_ * _); rewrite (bigD1 k) //= eqxx expr1 big1 ?mulr1 // => i /negbTE ik.
by rewrite eq_sym ik expr0.
Qed.

Lemma leaf_constant c : constant c = constant c * chosen [::]. Proof. by rewrite /chosen big_nil mulr1. Qed.
Lemma leaf_one : 1 = constant 1 * chosen [::]. Proof. by rewrite /chosen big_nil mulr1 rmorph1. Qed.
Lemma leaf_entry i : x i = constant 1 * chosen [:: i]. Proof. by rewrite /chosen big_seq1 rmorph1 mul1r. Qed.
Lemma leaf_product a b c d s t :
  a = constant c * chosen s -> b = constant d * chosen t -> a * b = constant (c * d) * chosen (s ++ t).
Proof. by move=> -> ->; rewrite /chosen big_cat rmorphM /= mulrACA. Qed.
Lemma mean_leaf a c s e : a = constant c * chosen s -> expectation (chosen s) = e -> expectation a = c * e.
Proof. by move=> -> <-; rewrite mean_scaled. Qed.
Lemma mean_chosen_none : expectation (chosen [::]) = 1. Proof. by rewrite /chosen big_nil mean_one. Qed.
Lemma chosen_turned p s : chosen (p :: s) = chosen (s ++ [:: p]).
Proof. by rewrite /chosen big_cat big_cons big_seq1 mulrC. Qed.

(* For each occurrence of p in s, the expectation of s without it, added up; t holds the indices already passed, in reverse. *)
Fixpoint contracted p t s : R :=
  if s is k :: r then (p == k)%:R * expectation (chosen (catrev t r)) + contracted p (k :: t) r else 0.

Variable n : nat.
Hypothesis ind : independent_to expectation n x.

Definition others p s : R := \prod_(i | i != p) expectation (x i ^+ count_mem i s).
Lemma mean_chosen p s : (forall i, (count_mem i s <= n)%N) ->
  expectation (chosen s) = expectation (x p ^+ count_mem p s) * others p s.
Proof. by move=> small; rewrite chosen_powers ind // (bigD1 p). Qed.

Lemma contracted_count p t s w : perm_eq (catrev t s) w -> (forall i, (count_mem i w <= n)%N) ->
  contracted p t s = (count_mem p s)%:R * (expectation (x p ^+ (count_mem p w).-1) * others p w).
Proof.
move=> same small; elim: s t same => [|k s IH] t same /=; first by rewrite mul0r.
rewrite (IH (k :: t)) //; case: (eqVneq p k) => [pk|pk]; last by rewrite mul0r !add0r.
rewrite mul1r natrD mulrDl mul1r; congr (_ + _).
have counts i : count_mem i w = ((p == i) + count_mem i (catrev t s))%N.
  by move/permP: same => /(_ (pred1 i)) <-; rewrite !catrevE !count_cat /= addnCA pk.
rewrite (mean_chosen p) => [|i]; last by apply: leq_trans (small i); rewrite counts leq_addl.
congr (_ * _); first by rewrite counts eqxx.
by apply: eq_bigr => i ip; rewrite counts eq_sym (negbTE ip).
Qed.

(* Integration by parts, if the moments of x p satisfy the recursion of a normal variable up to the powers that occur *)
Lemma by_parts p s m v e c :
  (forall i, (count_mem i (p :: s) <= n)%N) ->
  (forall a, (a <= count_mem p s)%N -> expectation (x p ^+ a.+1) = m * expectation (x p ^+ a) + a%:R * (v * expectation (x p ^+ a.-1))) ->
  m * expectation (chosen s) = e -> contracted p [::] s = c -> expectation (chosen (p :: s)) = e + v * c.
Proof.
move=> small parts <- <-.
have below i : (count_mem i s <= n)%N by apply: leq_trans (small i); rewrite /= leq_addl.
rewrite (mean_chosen p small) (mean_chosen p below) (@contracted_count p [::] s s) //= eqxx add1n parts //.
have -> : others p (p :: s) = others p s by apply: eq_bigr => i ip; rewrite /= eq_sym (negbTE ip).
rewrite mulrDl !mulrA; congr (_ + _ * _); by rewrite -!mulrA mulrCA.
Qed.
End Chosen.

(* They satisfy it for any distribution if x p occurs at most twice. *)
Lemma parts_of_few (x : Random) m v k : expectation x = m -> variance constant expectation x = v -> (k <= 1)%N ->
  forall a, (a <= k)%N -> expectation (x ^+ a.+1) = m * expectation (x ^+ a) + a%:R * (v * expectation (x ^+ a.-1)).
Proof.
move=> <- <- k1 a /leq_trans/(_ k1); case: a => [|[|a]] // _; first by rewrite mul0r addr0 mean_one mulr1.
by rewrite mul1r mean_one mulr1 variance_moments addrCA subrr addr0.
Qed.
Lemma parts_of_normal (x : Random) m v k : expectation x = m -> variance constant expectation x = v ->
  normal_moments constant expectation x ->
  forall a, (a <= k)%N -> expectation (x ^+ a.+1) = m * expectation (x ^+ a) + a%:R * (v * expectation (x ^+ a.-1)).
Proof.
by move=> <- <- normal [|a] _; rewrite ?normal // mul0r addr0 mean_one mulr1.
Qed.

Lemma independent_below n (I : finType) (x : I -> Random) : independent expectation x -> independent_to expectation n x.
Proof. by move=> ind a _; apply: ind. Qed.
Lemma independent_single n x : independent_to expectation n (single x).
Proof.
move=> a _; have every (T : comRingType) (f : unit -> T) : \prod_i f i = f tt.
  by rewrite (bigD1 tt) //= big1 ?mulr1 // => -[].
by rewrite !every.
Qed.
End Linear.

(* ---- Such random variables exist ----

   For any means and variances there are independent normal variables with a linear expectation. They are built one after the other:
   random variables are the polynomials in a new variable over those before it, and the expectation replaces its powers by its moments. *)

Section Model.
Variable R : comRingType.

Section OneMore.
Variables (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R) (moment : nat -> R).
Hypothesis linear : is_linear constant expectation.
Hypothesis first : moment 0%N = 1.
Definition mean_of (p : {poly Random}) : R := \sum_(k < size p) moment k * expectation p`_k.

Lemma mean_of_long n (p : {poly Random}) : (size p <= n)%N -> mean_of p = \sum_(k < n) moment k * expectation p`_k.
Proof.
move=> pn; rewrite /mean_of (big_ord_widen n (fun k => moment k * expectation p`_k) pn) big_mkcond; apply: eq_bigr => k _.
by case: ltnP => // long; rewrite nth_default // (mean_zero linear) mulr0.
Qed.
Lemma mean_of_add (p q : {poly Random}) : mean_of (p + q) = mean_of p + mean_of q.
Proof.
have pn := leq_maxl (size p) (size q); have qn := leq_maxr (size p) (size q).
rewrite (mean_of_long pn) (mean_of_long qn) (mean_of_long (size_add p q)) -big_split.
by apply: eq_bigr => k _; rewrite /= coefD (mean_add linear) mulrDr.
Qed.
Lemma mean_of_scaled c (p : {poly Random}) : mean_of ((constant c)%:P * p) = c * mean_of p.
Proof.
have small : (size (constant c *: p) <= size p)%N by apply: size_scale_leq.
rewrite mul_polyC (mean_of_long small) (mean_of_long (leqnn (size p))) mulr_sumr.
by apply: eq_bigr => k _; rewrite coefZ (mean_scaled linear) mulrCA.
Qed.
Lemma mean_of_unit : mean_of 1%:P = 1.
Proof. by rewrite /mean_of size_polyC oner_eq0 big_ord1 coefC eqxx first (mean_one linear) mulr1. Qed.
Lemma mean_of_linear : is_linear [rmorphism of polyC \o constant] mean_of.
Proof. by split; [exact: mean_of_add | exact: mean_of_scaled | exact: mean_of_unit]. Qed.
Lemma mean_of_power v n : mean_of (v%:P * 'X^n) = moment n * expectation v.
Proof.
have small : (size (v *: 'X^n : {poly Random}) <= n.+1)%N.
  by apply: leq_trans (size_scale_leq _ _) _; rewrite size_polyXn.
rewrite mul_polyC (mean_of_long small) big_ord_recr big1 /= => [|k _]; rewrite coefZ coefXn.
  by rewrite add0r eqxx mulr1.
by rewrite (ltn_eqF (ltn_ord k)) mulr0 (mean_zero linear) mulr0.
Qed.
End OneMore.

Lemma variables_exist n (moment : nat -> nat -> R) : (forall i, moment i 0%N = 1) ->
  exists (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R) (x : nat -> Random),
    is_linear constant expectation /\
    forall a : nat -> nat, expectation (\prod_(i < n) x i ^+ a i) = \prod_(i < n) moment i (a i).
Proof.
move=> first; elim: n => [|n [Random [constant [expectation [x [linear product]]]]]].
  by exists R, [rmorphism of idfun], id, (fun _ => 0); split=> // a; rewrite !big_ord0.
exists [comRingType of {poly Random}], [rmorphism of polyC \o constant], (mean_of expectation (moment n)).
exists (fun i => if i == n then 'X else (x i)%:P); split=> [|a]; first exact: mean_of_linear.
rewrite !big_ord_recr /= eqxx -product mulrC [RHS]mulrC.
rewrite (_ : \prod_(i < n) _ = (\prod_(i < n) x i ^+ a i)%:P); first by rewrite mulrC; apply: mean_of_power; apply: linear.
by rewrite rmorph_prod; apply: eq_bigr => i _; rewrite (ltn_eqF (ltn_ord i)) rmorphX.
Qed.

Theorem independent_exist (I : finType) (moment : I -> nat -> R) : (forall i, moment i 0%N = 1) ->
  exists (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R) (x : I -> Random),
    [/\ is_linear constant expectation, independent expectation x & forall i n, expectation (x i ^+ n) = moment i n].
Proof.
move=> first; pose at_place k := nth (fun _ => 1) [seq moment i | i <- enum I] k.
have [|Random [constant [expectation [x [linear product]]]]] := @variables_exist #|I| at_place.
  by rewrite /at_place; elim: (enum I) => [|i s IH] [|k] //=.
have moments a : expectation (\prod_i x (enum_rank i) ^+ a i) = \prod_i moment i (a i).
  pose b k := nth 0%N [seq a i | i <- enum I] k.
  have places (S : comRingType) (f : I -> S) (g : nat -> S) : (forall i : I, f i = g (enum_rank i)) ->
      \prod_i f i = \prod_(k < #|I|) g k.
    move=> fg; rewrite (reindex_onto (@enum_val I predT) enum_rank) => [|i _]; last exact: enum_rankK.
    by apply: eq_big => [k|k _]; rewrite ?fg enum_valK ?eqxx.
  have at_rank (T : Type) (z : T) (f : I -> T) i : nth z [seq f j | j <- enum I] (enum_rank i) = f i.
    by rewrite (nth_map i) ?nth_enum_rank // -cardE.
  rewrite (places _ _ (fun k => x k ^+ b k)) => [|i]; last by rewrite /b at_rank.
  rewrite product; symmetry; apply: (places _ _ (fun k => at_place k (b k))) => i.
  by rewrite /at_place /b !at_rank.
have alone i n : expectation (x (enum_rank i) ^+ n) = moment i n.
  pose a j := if j == i then n else 0%N.
  have only (S : comRingType) (f : I -> nat -> S) : (forall j, f j 0%N = 1) -> \prod_j f j (a j) = f i n.
    move=> f0; rewrite (bigD1 i) //= {1}/a eqxx big1 ?mulr1 // => j /negbTE ji.
    by rewrite /a ji.
  by rewrite -(only _ _ first) -moments (only _ (fun j n => x (enum_rank j) ^+ n)).
exists Random, constant, expectation, (fun i => x (enum_rank i)); split=> // a.
by rewrite moments; apply: eq_bigr => i _; rewrite alone.
Qed.

(* The moments of a normal variable with the mean m and the variance v: the next two *)
Fixpoint normal_pair (m v : R) n : R * R :=
  if n is k.+1 then let: (e, f) := normal_pair m v k in (f, m * f + k.+1%:R * (v * e)) else (1, m).

Theorem normal_exist (I : finType) (m v : I -> R) :
  exists (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R) (x : I -> Random),
    [/\ is_linear constant expectation, independent expectation x, forall i, expectation (x i) = m i,
        forall i, variance constant expectation (x i) = v i & forall i, normal_moments constant expectation (x i)].
Proof.
have [//|Random [constant [expectation [x [linear ind moments]]]]] := @independent_exist I (fun i n => (normal_pair (m i) (v i) n).1).
have means i : expectation (x i) = m i by rewrite -[x i]expr1 moments.
have variances i : variance constant expectation (x i) = v i.
  by rewrite (variance_moments linear) -expr2 moments means /= mul1r mulr1 addrAC subrr add0r.
exists Random, constant, expectation, x; split=> // i n.
rewrite !moments means variances /=; case: (normal_pair _ _ n) => e f //=.
Qed.
End Model.

(* ---- Computing expectations ---- *)

(* Moments without a known value get names, so that nothing tries to compute them again. *)
Section Unknown.
Variables (R Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R).
Lemma means_exist m n (A : 'M[Random]_(m, n)) : {B : 'M[R]_(m, n) | forall i j, expectation (A i j) = B i j}.
Proof. by exists (\matrix_(i, j) expectation (A i j)) => i j; rewrite mxE. Qed.
Lemma variances_exist m n (A : 'M[Random]_(m, n)) : {B : 'M[R]_(m, n) | forall i j, variance constant expectation (A i j) = B i j}.
Proof. by exists (\matrix_(i, j) variance constant expectation (A i j)) => i j; rewrite mxE. Qed.
Lemma mean_exists x : {e : R | expectation x = e}. Proof. by exists (expectation x). Qed.
Lemma variance_exists x : {v : R | variance constant expectation x = v}. Proof. by exists (variance constant expectation x). Qed.
Definition means_of m n (A : 'M[Random]_(m, n)) : 'M[R]_(m, n) := sval (means_exist A).
Definition variances_of m n (A : 'M[Random]_(m, n)) : 'M[R]_(m, n) := sval (variances_exist A).
Definition mean_of_one x : R := sval (mean_exists x).
Definition variance_of_one x : R := sval (variance_exists x).
Lemma means_ofE m n (A : 'M[Random]_(m, n)) i j : expectation (A i j) = means_of A i j. Proof. exact: (svalP (means_exist A)). Qed.
Lemma variances_ofE m n (A : 'M[Random]_(m, n)) i j : variance constant expectation (A i j) = variances_of A i j.
Proof. exact: (svalP (variances_exist A)). Qed.
Lemma mean_of_oneE x : expectation x = mean_of_one x. Proof. exact: (svalP (mean_exists x)). Qed.
Lemma variance_of_oneE x : variance constant expectation x = variance_of_one x. Proof. exact: (svalP (variance_exists x)). Qed.
End Unknown.

Section Steps.
Variables (R Random : comRingType) (expectation : Random -> R) (I : finType) (x : I -> Random).
Lemma contracted_none p t : contracted expectation x p t [::] = 0. Proof. by []. Qed.
Lemma contracted_next p t k s a b :
  (p == k)%:R * expectation (chosen x (catrev t s)) = a -> contracted expectation x p (k :: t) s = b ->
  contracted expectation x p t (k :: s) = a + b.
Proof. by move=> <- <-. Qed.
Lemma factor_zero (d e : R) : d = 0 -> d * e = 0. Proof. by move=> ->; rewrite mul0r. Qed.
Lemma factors (d e f g : R) : d = f -> e = g -> d * e = f * g. Proof. by move=> -> ->. Qed.
Variables (J K : finType) (m n : nat).
Lemma delta_left (a b : J) (d : R) : (a == b)%:R = d -> ((inl a : J + K) == inl b)%:R = d. Proof. by []. Qed.
Lemma delta_right (a b : K) (d : R) : (a == b)%:R = d -> ((inr a : J + K) == inr b)%:R = d. Proof. by []. Qed.
Lemma delta_left_right (a : J) (b : K) : ((inl a : J + K) == inr b)%:R = 0 :> R. Proof. by []. Qed.
Lemma delta_right_left (a : K) (b : J) : ((inr a : J + K) == inl b)%:R = 0 :> R. Proof. by []. Qed.
Lemma delta_pair (i k : 'I_m) (j l : 'I_n) : ((i, j) == (k, l))%:R = (i == k)%:R * (j == l)%:R :> R.
Proof. by rewrite -natrM mulnb. Qed.
Lemma delta_column (i k : 'I_m) (j l : 'I_1) : ((i, j) == (k, l))%:R = (i == k)%:R :> R.
Proof. by rewrite xpair_eqE (ord1 j) (ord1 l) eqxx andbT. Qed.
Lemma delta_tt : (tt == tt)%:R = 1 :> R. Proof. by []. Qed.
End Steps.

(* Goal: e = ?x, for random variables. Products of sums become sums of products; sums over indices move outside. *)
Ltac spread :=
  lazymatch goal with
  | |- @GRing.mul _ (@GRing.add _ ?a ?b) ?c = _ =>
    etransitivity; [apply: mulrDl |]; etransitivity; [apply: (f_equal2 +%R); spread | reflexivity]
  | |- @GRing.mul _ (@GRing.opp _ ?a) ?c = _ => etransitivity; [apply: mulNr |]; etransitivity; [apply: (f_equal -%R); spread | reflexivity]
  | |- @GRing.mul _ (@BigOp.bigop _ _ _ _ _) ?c = _ =>
    etransitivity; [apply: mulr_suml |]; etransitivity; [apply: each => ?; cbv beta; spread | reflexivity]
  | |- @GRing.mul _ ?c (@GRing.add _ ?a ?b) = _ =>
    etransitivity; [apply: mulrDr |]; etransitivity; [apply: (f_equal2 +%R); spread | reflexivity]
  | |- @GRing.mul _ ?c (@GRing.opp _ ?a) = _ => etransitivity; [apply: mulrN |]; etransitivity; [apply: (f_equal -%R); spread | reflexivity]
  | |- @GRing.mul _ ?c (@BigOp.bigop _ _ _ _ _) = _ =>
    etransitivity; [apply: mulr_sumr |]; etransitivity; [apply: each => ?; cbv beta; spread | reflexivity]
  | |- _ => reflexivity
  end.
Ltac flat :=
  lazymatch goal with
  | |- @GRing.add _ _ _ = _ => etransitivity; [apply: (f_equal2 +%R); flat | reflexivity]
  | |- @GRing.opp _ _ = _ => etransitivity; [apply: (f_equal -%R); flat | reflexivity]
  | |- @GRing.mul _ _ _ = _ => etransitivity; [apply: (f_equal2 *%R); flat | spread]
  | |- @GRing.exp _ _ O = _ => apply: expr0
  | |- @GRing.exp _ _ (S O) = _ => etransitivity; [apply: expr1 | flat]
  | |- @GRing.exp _ _ (S _) = _ => etransitivity; [apply: exprS |]; etransitivity; [apply: (f_equal2 *%R); flat | spread]
  | |- @BigOp.bigop _ _ _ _ _ = _ => etransitivity; [apply: each => ?; cbv beta; flat | reflexivity]
  | |- fun_of_matrix _ _ _ = _ => tryif (progress rewrite mxE) then flat else reflexivity
  | |- _ => reflexivity
  end.

(* The index of y in a family *)
Ltac place_in x y :=
  match x with
  | @along _ ?I ?J ?f ?g => let p := place_in f y in constr:(@inl (Finite.sort I) (Finite.sort J) p)
  | @along _ ?I ?J ?f ?g => let p := place_in g y in constr:(@inr (Finite.sort I) (Finite.sort J) p)
  | @entries _ _ _ ?A => lazymatch y with @fun_of_matrix _ _ _ A ?i ?j => constr:((i, j)) end
  | single ?z => let _ := match goal with _ => unify y z end in constr:(tt)
  end.

(* Goal: a product = constant ?c * chosen x ?s *)
Ltac as_chosen K x :=
  lazymatch goal with
  | |- @GRing.mul _ _ _ = _ => apply: leaf_product; as_chosen K x
  | |- GRing.one _ = _ => apply: leaf_one
  | |- ?y = _ => first [apply: (leaf_constant K x) | let p := place_in x y in apply: (leaf_entry K x p)]
  end.

(* Goal: a bound on how often an index occurs in a list *)
Ltac counted := first
  [ by intros; apply: leq_trans (count_size _ _) _
  | try (let i := fresh "i" in intro i; repeat (destruct i as [i|i])); rewrite /=;
    repeat match goal with |- context [nat_of_bool ?b] => lazymatch b with true => fail | false => fail | _ => case: b end end;
    exact: isT ].

(* Goal: the mean or the variance of an entry = ?m *)
Ltac known_of E := match goal with H : _ |- _ => lazymatch type of H with context [E] => solve [apply: H] end end.
Ltac entry_known E x := cbn [along entries single fst snd];
  first [ known_of E
        | lazymatch goal with
          | |- variance _ _ (fun_of_matrix _ _ _) = _ => apply: variances_ofE
          | |- _ (fun_of_matrix _ _ _) = _ => apply: means_ofE
          | |- variance _ _ _ = _ => apply: variance_of_oneE
          | |- _ => apply: mean_of_oneE
          end ].

(* Goal: (p == k)%:R = ?d, for indices of a family *)
Ltac delta := lazymatch goal with
  | |- @GRing.natmul _ _ (nat_of_bool (@eq_op _ ?p ?k)) = _ =>
    lazymatch p with
    | inl _ => lazymatch k with inl _ => apply: delta_left; delta | _ => exact: delta_left_right end
    | inr _ => lazymatch k with inr _ => apply: delta_right; delta | _ => exact: delta_right_left end
    | tt => exact: delta_tt
    | _ => first [exact: delta_column | exact: delta_pair]
    end
  end.

(* Goal: the expectation of a product of entries = ?e. Integrates by parts in the first entry that allows it. *)
Ltac mean_of_chosen L E ind x tries :=
  lazymatch goal with |- _ (chosen _ ?s) = ?e =>
    let s' := eval cbn [cat catrev] in s in change (E (chosen x s') = e);
    lazymatch s' with
    | [::] => exact: (mean_chosen_none L x)
    | ?p :: ?r => first
      [ refine (@by_parts _ _ E _ x _ ind p r _ _ _ _ _ _ _ _);
        [ solve [counted]
        | first [ refine (parts_of_normal L _ _ _); [entry_known E x | entry_known E x | cbn [along entries single fst snd]; known_of E]
                | refine (parts_of_few L _ _ _); [entry_known E x | entry_known E x | solve [counted]] ]
        | lazymatch goal with
          | |- @GRing.mul _ (GRing.zero _) _ = _ => apply: mul0r
          | |- _ => apply: factors; [reflexivity | mean_of_chosen L E ind x 8%N]
          end
        | mean_of_contracted L E ind x ]
      | lazymatch tries with S ?k => etransitivity; [apply: (f_equal E); apply: (chosen_turned x) |]; mean_of_chosen L E ind x k end ]
    end end
with mean_of_contracted L E ind x :=
  lazymatch goal with
  | |- contracted _ _ _ _ [::] = _ => exact: contracted_none
  | |- contracted _ _ ?p ?t (?k :: ?r) = _ =>
    apply: contracted_next;
    [ first [ apply: factor_zero; solve [delta; reflexivity]
            | apply: factors; [delta | mean_of_chosen L E ind x 8%N] ]
    | mean_of_contracted L E ind x ]
  end.

(* Goal: the expectation of a product = ?e. Its entries belong to an independent family, or are all the same variable. *)
Ltac an_entry m := match m with
  | @GRing.mul _ ?a _ => an_entry a
  | @GRing.mul _ _ ?b => an_entry b
  | @fun_of_matrix _ _ _ _ _ _ => constr:(m)
  | _ => let _ := match goal with _ => is_var m end in constr:(m)
  end.
Ltac mean_in L K E ind x := refine (mean_leaf L (x := x) _ _); [as_chosen K x | mean_of_chosen L E ind x 8%N].
Ltac mean_of_product L K E :=
  lazymatch goal with |- _ ?m = _ =>
    first
    [ match goal with
      | ind : independent_to E ?n ?x |- _ => mean_in L K E ind x
      | ind : independent E ?x |- _ => mean_in L K E (@independent_below _ _ E 12%N _ x ind) x
      end
    | apply: (mean_constant L)
    | let y := an_entry m in mean_in L K E (@independent_single _ _ E 12%N y) (single y)
    | mean_in L K E (@independent_single _ _ E 12%N m) (single m) ] end.
Ltac mean_of_flat L K E :=
  lazymatch goal with
  | |- _ (@GRing.add _ _ _) = _ => etransitivity; [apply: (mean_add L) |]; etransitivity; [apply: (f_equal2 +%R); mean_of_flat L K E | reflexivity]
  | |- _ (@GRing.opp _ _) = _ => etransitivity; [apply: (mean_opp L) |]; etransitivity; [apply: (f_equal -%R); mean_of_flat L K E | reflexivity]
  | |- _ (@BigOp.bigop _ _ _ _ _) = _ =>
    etransitivity; [apply: (mean_sum L) |]; etransitivity; [apply: each => ?; cbv beta; mean_of_flat L K E | reflexivity]
  | |- _ => mean_of_product L K E
  end.

(* ---- Exponentials of normal variables ----

   An exponent is a number plus a multiple of each variable of a family. If the family is independent, the expectation is known. *)

Section OfExponentials.
Variables (R : realFieldType) (Random : comRingType) (constant : {rmorphism R -> Random}) (expectation : Random -> R).
Variables (exp : R -> R) (exponential : Random -> Random).

Definition affine (I : finType) (x : I -> Random) t a c := t = constant c + \sum_i constant (a i) * x i.

Section Affine.
Variables (I J : finType) (x : I -> Random) (y : J -> Random).
Lemma affine_constant c : affine x (constant c) (fun _ => 0) c.
Proof. by rewrite /affine big1 ?addr0 // => i _; rewrite rmorph0 mul0r. Qed.
Lemma affine_one : affine x 1 (fun _ => 0) 1. Proof. by rewrite -(rmorph1 constant); apply: affine_constant. Qed.
Lemma affine_add t u a b c d : affine x t a c -> affine x u b d -> affine x (t + u) (fun i => a i + b i) (c + d).
Proof.
rewrite /affine => -> ->; rewrite rmorphD addrACA -big_split; congr (_ + _).
by apply: eq_bigr => i _; rewrite rmorphD mulrDl.
Qed.
Lemma affine_opp t a c : affine x t a c -> affine x (- t) (fun i => - a i) (- c).
Proof. by rewrite /affine => ->; rewrite opprD rmorphN -sumrN; congr (_ + _); apply: eq_bigr => i _; rewrite rmorphN mulNr. Qed.
Lemma affine_times k u t a c : u = constant k -> affine x t a c -> affine x (u * t) (fun i => k * a i) (k * c).
Proof.
rewrite /affine => -> ->; rewrite mulrDr rmorphM mulr_sumr; congr (_ + _).
by apply: eq_bigr => i _; rewrite rmorphM mulrA.
Qed.
Lemma affine_times_right k u t a c : u = constant k -> affine x t a c -> affine x (t * u) (fun i => k * a i) (k * c).
Proof. by move=> uk tx; rewrite mulrC; apply: affine_times. Qed.
Lemma affine_sum n (f : 'I_n -> Random) a c : (forall k, affine x (f k) (a k) (c k)) ->
  affine x (\sum_(k < n) f k) (fun i => \sum_(k < n) a k i) (\sum_(k < n) c k).
Proof.
rewrite /affine => fx; rewrite (eq_bigr _ (fun k _ => fx k)) big_split /= -rmorph_sum; congr (_ + _).
by rewrite exchange_big; apply: eq_bigr => i _; rewrite rmorph_sum mulr_suml.
Qed.
Lemma affine_left t a c : affine x t a c -> affine (along x y) t (fun p => match p with inl i => a i | inr _ => 0 end) c.
Proof. by rewrite /affine big_sumType /= => ->; congr (_ + _); rewrite [X in _ + X]big1 ?addr0 // => j _; rewrite rmorph0 mul0r. Qed.
Lemma affine_right t b c : affine y t b c -> affine (along x y) t (fun p => match p with inl _ => 0 | inr j => b j end) c.
Proof. by rewrite /affine big_sumType /= => ->; congr (_ + _); rewrite [X in _ = X + _]big1 ?add0r // => i _; rewrite rmorph0 mul0r. Qed.
End Affine.
Lemma affine_single z : affine (single z) z (fun _ => 1) 0.
Proof. by rewrite /affine rmorph0 add0r rmorph1 (bigD1 tt) //= big1 ?addr0 ?mul1r // => -[]. Qed.
Lemma affine_cell m n (A : 'M[Random]_(m, n)) i j : affine (entries A) (A i j) (fun p => (p.1 == i)%:R * (p.2 == j)%:R) 0.
Proof.
rewrite /affine rmorph0 add0r (bigD1 (i, j)) //= !eqxx mulr1 rmorph1 mul1r big1 ?addr0 // => -[k l] /=.
by rewrite xpair_eqE -natrM mulnb => /negbTE ->; rewrite rmorph0 mul0r.
Qed.
Lemma affine_column n (A : 'M[Random]_(n, 1)) i : affine (entries A) (A i ord0) (fun p => (p.1 == i)%:R) 0.
Proof.
have := affine_cell A i ord0; rewrite /affine => {1}->; congr (_ + _); apply: eq_bigr => -[k l] _ /=.
by rewrite (ord1 l) eqxx mulr1.
Qed.

(* A function of each member of a family *)
Section Known.
Variable F : Random -> R.
Lemma known_along (I J : finType) (x : I -> Random) (y : J -> Random) f g :
  (forall i, F (x i) = f i) -> (forall j, F (y j) = g j) -> forall p, F (along x y p) = match p with inl i => f i | inr j => g j end.
Proof. by move=> fx gy []. Qed.
Lemma known_entries m n (A : 'M[Random]_(m, n)) f : (forall i j, F (A i j) = f i j) -> forall p, F (entries A p) = f p.1 p.2.
Proof. by move=> fA []. Qed.
Lemma known_column n (A : 'M[Random]_(n, 1)) f : (forall i, F (A i ord0) = f i) -> forall p, F (entries A p) = f p.1.
Proof. by move=> fA [i j]; rewrite /entries (ord1 j) fA. Qed.
Lemma known_single z e : F z = e -> forall p, F (single z p) = e. Proof. by []. Qed.
End Known.

Lemma sum_along (I J : finType) (f : I + J -> R) : \sum_p f p = \sum_i f (inl i) + \sum_j f (inr j). Proof. exact: big_sumType. Qed.
Lemma sum_entries m n (f : 'I_m * 'I_n -> R) : \sum_p f p = \sum_(i < m) \sum_(j < n) f (i, j).
Proof. by rewrite pair_bigA; apply: eq_bigr => -[]. Qed.
Lemma sum_column n (f : 'I_n * 'I_1 -> R) : \sum_p f p = \sum_(i < n) f (i, ord0).
Proof. by rewrite sum_entries; apply: eq_bigr => i _; rewrite big_ord1. Qed.
Lemma sum_single (f : unit -> R) : \sum_p f p = f tt. Proof. by rewrite (bigD1 tt) //= big1 ?addr0 // => -[]. Qed.

Lemma fixed_product u v k l : u = constant k -> v = constant l -> u * v = constant (k * l). Proof. by move=> -> ->; rewrite rmorphM. Qed.
Lemma fixed_one : 1 = constant 1. Proof. by rewrite rmorph1. Qed.

Hypothesis linear : is_linear constant expectation.
Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.
Hypothesis exp_positive : forall x, 0 < exp x.
Hypothesis exponential_add : forall x y, exponential (x + y) = exponential x * exponential y.
Hypothesis exponential_constant : forall c, exponential (constant c) = constant (exp c).

Lemma exponential_zero : exponential 0 = 1.
Proof. by rewrite -(rmorph0 constant) exponential_constant (exp_zero exp_add exp_positive) rmorph1. Qed.

(* A product of exponentials and numbers *)
Lemma gathered_constant c : constant c = constant c * exponential 0. Proof. by rewrite exponential_zero mulr1. Qed.
Lemma gathered_one : 1 = constant 1 * exponential 0. Proof. by rewrite exponential_zero mulr1 rmorph1. Qed.
Lemma gathered_exponential s t : s = t -> exponential s = constant 1 * exponential t. Proof. by move=> ->; rewrite rmorph1 mul1r. Qed.
Lemma gathered_product u v c d s t :
  u = constant c * exponential s -> v = constant d * exponential t -> u * v = constant (c * d) * exponential (s + t).
Proof. by move=> -> ->; rewrite rmorphM exponential_add mulrACA. Qed.

Lemma affine_zero (I : finType) (x : I -> Random) : affine x 0 (fun _ => 0) 0.
Proof. by rewrite -[X in affine _ X](rmorph0 constant); apply: affine_constant. Qed.

Lemma mean_of_exponential (I : finType) (x : I -> Random) u k t a c m v s :
  independent_exponentials constant expectation exponential x ->
  (forall i, normal_exponentials constant expectation exp exponential (x i)) ->
  u = constant k * exponential t -> affine x t a c ->
  (forall i, expectation (x i) = m i) -> (forall i, variance constant expectation (x i) = v i) ->
  \sum_i (a i * m i + a i ^+ 2 * v i / 2%:R) = s -> expectation u = k * exp (c + s).
Proof.
move=> ind normal -> -> means variances <-; rewrite (mean_scaled linear) exponential_add exponential_constant (mean_scaled linear).
rewrite (big_morph exponential exponential_add exponential_zero) ind exp_add; congr (_ * (_ * _)).
rewrite (big_morph exp exp_add (exp_zero exp_add exp_positive)).
by apply: eq_bigr => i _; rewrite normal means variances.
Qed.

Lemma independent_exponentials_single z : independent_exponentials constant expectation exponential (single z).
Proof.
move=> a; have every (T : comRingType) (f : unit -> T) : \prod_i f i = f tt.
  by rewrite (bigD1 tt) //= big1 ?mulr1 // => -[].
by rewrite !every.
Qed.

(* Exponentials of numbers become one exponential. *)
Lemma joined_one : 1 = exp 0. Proof. by rewrite (exp_zero exp_add exp_positive). Qed.
Lemma joined_product e f s t : e = exp s -> f = exp t -> e * f = exp (s + t). Proof. by move=> -> ->. Qed.
Lemma joined_inverse e s : e = exp s -> e^-1 = exp (- s). Proof. by move=> ->; rewrite (exp_opposite exp_add exp_positive). Qed.
Lemma joined_power e s n : e = exp s -> e ^+ n = exp (n%:R * s). Proof. by move=> ->; rewrite (exp_multiple exp_add exp_positive). Qed.
Lemma joined_mean e k s : e = k * exp s -> k = 1 -> e = exp s. Proof. by move=> -> ->; rewrite mul1r. Qed.
End OfExponentials.

(* Goal: u = constant ?k *)
Ltac fixed := lazymatch goal with
  | |- @GRing.mul _ _ _ = _ => apply: fixed_product; fixed
  | |- GRing.one _ = _ => apply: fixed_one
  | |- _ => reflexivity
  end.

(* Goal: affine x t ?a ?c *)
Ltac in_family := lazymatch goal with
  | |- affine _ (along _ _) _ _ _ => first [apply: affine_left; in_family | apply: affine_right; in_family]
  | |- affine _ (entries _) _ _ _ => first [apply: affine_column | apply: affine_cell]
  | |- affine _ (single _) _ _ _ => apply: affine_single
  end.
Ltac as_affine := cbv beta; lazymatch goal with |- affine _ _ ?t _ _ => lazymatch t with
  | @GRing.add _ _ _ => apply: affine_add; as_affine
  | @GRing.opp _ _ => apply: affine_opp; as_affine
  | @BigOp.bigop _ _ _ _ _ => apply: affine_sum => ?; as_affine
  | GRing.zero _ => apply: affine_zero
  | GRing.one _ => apply: affine_one
  | @GRing.mul _ _ _ => first
    [ eapply affine_times; [solve [fixed] | as_affine] | eapply affine_times_right; [solve [fixed] | as_affine] ]
  | _ => first [apply: affine_constant | in_family]
  end end.

(* Goal: forall p, F (x p) = ?f p, for means or variances *)
Ltac members_known E x := lazymatch goal with
  | |- forall p, _ (along _ _ p) = _ => apply: known_along; members_known E x
  | |- forall p, _ (entries ?A p) = _ => first
    [ apply: known_column => ?; known_of E | apply: known_entries => ? ?; known_of E
    | apply: known_entries => ? ?; entry_known E x ]
  | |- forall p, _ (single _ p) = _ => apply: known_single; entry_known E x
  end.
Ltac each_normal E := let p := fresh "p" in intro p; repeat (destruct p as [p | p]); try destruct p as [? p];
  rewrite /= /entries /single ?(ord1 p); known_of E.

(* Goal: a sum over a family = ?s *)
Ltac family_sum := first
  [ etransitivity; [apply: sum_along |]; apply: (f_equal2 +%R); cbv beta iota; family_sum
  | etransitivity; [first [apply: sum_single | apply: sum_column | apply: sum_entries] | cbn [fst snd]; reflexivity] ].

(* Goal: u = constant ?k * exponential ?t *)
Ltac gathered X Z := lazymatch goal with
  | |- @GRing.mul _ _ _ = _ => apply: (gathered_product X); gathered X Z
  | |- GRing.one _ = _ => apply: (gathered_one Z)
  | |- ?e _ = _ => first [eapply gathered_exponential; flat | eapply gathered_constant; exact Z]
  end.

(* Goal: E u = ?e, where u is a product of exponentials and numbers *)
Ltac mean_of_gathered L K E := match goal with
  | A : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y), P : forall x, is_true (@Order.lt _ _ _ (?exp x)),
    X : forall x y, ?exponential (@GRing.add _ x y) = @GRing.mul _ (?exponential x) (?exponential y),
    C : forall c, ?exponential _ = _ (?exp c) |- E ?u = _ =>
    lazymatch u with context [exponential _] => idtac end;
    let mean ind x := refine (mean_of_exponential L A P X C ind _ _ _ _ _ _);
      [ solve [each_normal E]
      | gathered X (exponential_zero A P C)
      | as_affine
      | members_known E x
      | members_known E x
      | family_sum ] in
    match goal with
    | ind : independent_exponentials K E exponential ?x |- _ => mean ind x
    | z : _ |- _ => mean (independent_exponentials_single K E exponential z) (single z)
    | _ => lazymatch u with context [@fun_of_matrix ?T ?m ?n ?B ?i ?j] =>
        let z := constr:(@fun_of_matrix T m n B i j) in mean (independent_exponentials_single K E exponential z) (single z) end
    end
  end.

(* Goal: e = exp ?s, for a product of exponentials and of expectations of exponentials *)
Ltac joined_exponentials A P := lazymatch goal with
  | |- @GRing.mul _ _ _ = _ => apply: (joined_product A); joined_exponentials A P
  | |- @GRing.inv _ _ = _ => apply: (joined_inverse A P); joined_exponentials A P
  | |- @GRing.exp _ _ _ = _ => apply: (joined_power A P); joined_exponentials A P
  | |- GRing.one _ = _ => apply: (joined_one A P)
  | L : is_linear ?K ?E |- ?E _ = _ => eapply joined_mean; [mean_of_gathered L K E | rewrite ?mulr1; reflexivity]
  | |- _ => reflexivity
  end.
(* Goal: an equality of such products. Leaves the equality of their exponents. *)
Ltac exponents_alone := match goal with
  A : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y), P : forall x, is_true (@Order.lt _ _ _ (?exp x)) |- _ =>
    (etransitivity; [joined_exponentials A P |]); symmetry; (etransitivity; [joined_exponentials A P |]); symmetry;
    lazymatch goal with |- exp _ = exp _ => apply: (f_equal exp) end;
    repeat match goal with H : ?s = @GRing.mul _ (@GRing.natmul _ _ _) ?p |- context [?s] => is_var p; rewrite H end
  end.

Ltac taken_further ::= match goal with
  | L : is_linear ?K ?E |- ?E _ = _ => etransitivity; [etransitivity; [apply: (f_equal E); flat | mean_of_gathered L K E] |]
  | L : is_linear ?K ?E |- ?E _ = _ => etransitivity; [etransitivity; [apply: (f_equal E); flat | mean_of_flat L K E] |]
  | L : is_linear ?K ?E |- variance ?K ?E _ = _ => etransitivity; [exact: (variance_moments L) |]
  end.
(* The square of the exponential of a half *)
Lemma half_twice (R : realFieldType) (exp : R -> R) (h r : R) : (forall x y, exp (x + y) = exp x * exp y) ->
  h = 2%:R^-1 * r -> exp h * exp h = exp r.
Proof.
move=> exp_add ->; rewrite -exp_add -mulrDl; congr exp; rewrite -[RHS]mul1r; congr (_ * _).
by rewrite -mulr2n -mulr_natl divff ?pnatr_eq0.
Qed.
Ltac half_facts := repeat match goal with
  | A : forall x y, ?exp (@GRing.add _ x y) = @GRing.mul _ (?exp x) (?exp y) |- context [?exp ?h] =>
    lazymatch goal with H : @GRing.mul _ (exp h) (exp h) = _ |- _ => fail | _ => idtac end;
    let R := lazymatch type of h with ?R => constr:(R) end in
    let p := take_factor R ltac:(fun x => lazymatch x with @GRing.inv _ (@GRing.natmul _ _ 2%N) => idtac end) h in
    lazymatch p with (_, ?r) => let fact := fresh "half" in have fact := @half_twice _ exp h r A; specialize (fact ltac:(by_factors)); rewrite ?mul1r in fact end
  end.
Ltac compare R ::= denominators; root_facts; half_facts; spell R; hide_all; first [by_ring | field_with_roots; nonzero].

Ltac laws R := try (apply/matrixP => ? ?); one_places; first [solve [exponents_alone; numbers R] | numbers R].

(* ---- Refuted laws ---- *)

Lemma independent_like (R Random : comRingType) (expectation : Random -> R) (I : finType) (x y : I -> Random) :
  independent expectation x -> (forall p, x p = y p) -> independent expectation y.
Proof.
move=> ind same a; have := ind a; rewrite (eq_bigr _ (fun p _ => f_equal (fun t => t ^+ a p) (same p))) => ->.
by apply: eq_bigr => p _; rewrite same.
Qed.

(* The assumptions about tensors hold for the random variables that were constructed. *)
Ltac as_made H := intros; rewrite ?mxE; apply: H.
Ltac independent_as_made ind :=
  try apply: independent_below; apply: (independent_like ind); let p := fresh "p" in intro p;
  repeat (destruct p as [p|p]); try destruct p as [? ?]; rewrite /= /entries /single ?mxE //.

(* A number without variables, as an integer *)
Ltac whole_value e := lazymatch e with
  | @GRing.add _ ?a ?b => let x := whole_value a in let y := whole_value b in eval compute in (BinInt.Z.add x y)
  | @GRing.mul _ ?a ?b => let x := whole_value a in let y := whole_value b in eval compute in (BinInt.Z.mul x y)
  | @GRing.opp _ ?a => let x := whole_value a in eval compute in (BinInt.Z.opp x)
  | GRing.zero _ => constr:(BinNums.Z0)
  | GRing.one _ => constr:(BinNums.Zpos BinNums.xH)
  | @GRing.natmul _ (GRing.one _) ?n => eval compute in (BinInt.Z.of_nat n)
  end.
(* Goal: e = ?n%:R *)
Ltac natural R :=
  etransitivity; [normal |];
  lazymatch goal with |- ?g = _ =>
    let z := whole_value g in let n := eval compute in (BinInt.Z.to_nat z) in
    etransitivity; [assert (h : g = n%:R) by compare R; exact: h | reflexivity] end.
Lemma two_naturals (R : realFieldType) (a b : R) m n : a = m%:R -> b = n%:R -> (m != n)%N -> a = b -> False.
Proof. by move=> -> -> mn /eqP; rewrite eqr_nat (negbTE mn). Qed.
(* Goal: an equality of two different numbers -> False *)
Ltac false_law R := refine (two_naturals _ _ _); [natural R | natural R | exact: isT].
