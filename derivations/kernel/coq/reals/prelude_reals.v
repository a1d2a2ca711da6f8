(* The prelude of files about refutations over the real numbers: definitions that claims use, lemmas about them, and tactics.

   A tensor is a function of its places, which are counted from 0: a vector maps a place to a number, a matrix a row and a column.
   Its size is given wherever it is used: a sum runs over the places below a size. Everything here is proved and rests only on the
   axioms of Coq's real numbers. *)
From Coq Require Export Reals Lra Lia List Arith.
From Coquelicot Require Export Coquelicot.
From Flocq Require Core.
From Interval Require Import Float.Specific_stdz Float.Specific_ops Tactic.
Export ListNotations.
Local Open Scope R_scope.

(* ---- Definitions that claims use ---- *)

(* The sum of f k over all k < n *)
Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => total m f + f m end.

(* A size as a real number *)
Definition number (n : nat) : R := IZR (Z.of_nat n).

Definition dot n (u v : nat -> R) : R := total n (fun k => u k * v k).
Definition matrix_vector n (A : nat -> nat -> R) (v : nat -> R) i : R := total n (fun k => A i k * v k).
Definition vector_matrix n (v : nat -> R) (A : nat -> nat -> R) j : R := total n (fun k => v k * A k j).
Definition product n (A B : nat -> nat -> R) i j : R := total n (fun k => A i k * B k j).
Definition transposed (A : nat -> nat -> R) i j : R := A j i.
Definition identity (i j : nat) : R := if Nat.eqb i j then 1 else 0.
Definition softmax_vector n (z : nat -> R) i : R := exp (z i) / total n (fun k => exp (z k)).
Definition softmax_rows n (S : nat -> nat -> R) i j : R := exp (S i j) / total n (fun k => exp (S i k)).
Definition length_of n (v : nat -> R) : R := sqrt (total n (fun k => v k * v k)).
Definition vector_of (entries : list R) i : R := nth i entries 0.
Definition matrix_of (rows : list (list R)) i j : R := nth j (nth i rows []) 0.

(* The tensor with t at one place, for derivatives with respect to an entry *)
Definition marked_vector (v : nat -> R) i (t : R) k : R := if Nat.eqb k i then t else v k.
Definition marked_matrix (A : nat -> nat -> R) i j (t : R) k l : R := if (Nat.eqb k i && Nat.eqb l j)%bool then t else A k l.

(* A matrix of m rows and n columns has at most the rank r: it is a product with inner size r. *)
Definition rank_at_most m n (A : nat -> nat -> R) r : Prop :=
  exists columns rows : nat -> nat -> R, forall i j, (i < m)%nat -> (j < n)%nat -> A i j = product r columns rows i j.
Definition rank_is m n (A : nat -> nat -> R) r : Prop := rank_at_most m n A r /\ forall s, (s < r)%nat -> ~ rank_at_most m n A s.

Notation "\sum_ ( k < n ) f" := (total n (fun k => f)) (at level 41, f at level 41, k binder, n at level 60).

(* ---- Ranks ----

   One step of elimination lowers the rank by one. A matrix of rank zero is zero. *)

Definition eliminated (A : nat -> nat -> R) p q i j : R := A i j * A p q - A i q * A p j.
(* The l-th natural number other than k *)
Definition but k l : nat := if Nat.ltb l k then l else S l.

Lemma total_each n f g : (forall k, (k < n)%nat -> f k = g k) -> total n f = total n g.
Proof.
induction n as [| n IH]; intros fg; simpl; [reflexivity |].
rewrite (fg n), IH; [reflexivity | intros k kn; apply fg; lia | lia].
Qed.

Lemma total_two n f g a b : total n (fun k => a * f k - b * g k) = a * total n f - b * total n g.
Proof. induction n as [| n IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma total_but n k f : (k <= n)%nat -> total (S n) f = total n (fun l => f (but k l)) + f k.
Proof.
induction n as [| n IH]; intros kn; [replace k with O by lia; simpl; ring |].
change (total (S n) f + f (S n) = total n (fun l => f (but k l)) + f (but k n) + f k).
destruct (Nat.eq_dec k (S n)) as [-> | other].
- unfold but at 2; destruct (Nat.ltb_spec n (S n)) as [_ | l]; [| lia]; simpl.
  rewrite (total_each n (fun l => f (but (S n) l)) f); [reflexivity |].
  intros l ln; unfold but; destruct (Nat.ltb_spec l (S n)) as [_ | m]; [reflexivity | lia].
- rewrite IH by lia; unfold but at 3; destruct (Nat.ltb_spec n k) as [l | _]; [lia | ring].
Qed.

Lemma total_not_zero n f : total n f <> 0 -> exists k, (k < n)%nat /\ f k <> 0.
Proof.
induction n as [| n IH]; intros t0; simpl in t0; [lra |].
destruct (Req_dec (f n) 0) as [zero | other]; [| exists n; split; [lia | exact other]].
destruct IH as [k [kn fk]]; [lra | exists k; split; [lia | exact fk]].
Qed.

Lemma rank_eliminated m n A r p q :
  (p < m)%nat -> (q < n)%nat -> A p q <> 0 -> rank_at_most m n A (S r) -> rank_at_most m n (eliminated A p q) r.
Proof.
intros pm qn pivot [B [C made]].
destruct (total_not_zero (S r) (fun k => B p k * C k q)) as [k [kr other]].
{ change (product (S r) B C p q <> 0); rewrite <- made; assumption. }
assert (b0 : B p k <> 0) by (intros zero; apply other; rewrite zero; ring).
exists (fun i l => B i (but k l) - B i k / B p k * B p (but k l)), (fun l j => A p q * C (but k l) j - C (but k l) q * A p j).
assert (entry : forall i j, (i < m)%nat -> (j < n)%nat ->
  A i j = total r (fun l => B i (but k l) * C (but k l) j) + B i k * C k j).
{ intros i j im jn; rewrite (made i j im jn); unfold product; exact (total_but r k (fun k => B i k * C k j) (proj1 (Nat.lt_succ_r k r) kr)). }
assert (shorter : forall i j, (i < m)%nat -> (j < n)%nat ->
  total r (fun l => (B i (but k l) - B i k / B p k * B p (but k l)) * C (but k l) j) = A i j - B i k / B p k * A p j).
{ intros i j im jn; rewrite (entry i j im jn), (entry p j pm jn).
  rewrite (total_each r _ (fun l => 1 * (B i (but k l) * C (but k l) j) - B i k / B p k * (B p (but k l) * C (but k l) j)))
    by (intros; ring).
  rewrite total_two; field; exact b0. }
intros i j im jn; unfold eliminated, product.
rewrite (total_each r _ (fun l => A p q * ((B i (but k l) - B i k / B p k * B p (but k l)) * C (but k l) j)
  - A p j * ((B i (but k l) - B i k / B p k * B p (but k l)) * C (but k l) q))) by (intros; ring).
rewrite total_two, (shorter i j im jn), (shorter i q im qn); field; exact b0.
Qed.

Lemma no_rank_is_zero m n A i j : rank_at_most m n A 0 -> (i < m)%nat -> (j < n)%nat -> A i j = 0.
Proof. intros [B [C made]] im jn; rewrite (made i j im jn); reflexivity. Qed.

(* ---- Computing with numbers ----

   Definitions are unfolded at the sizes of a counterexample. Sums, products and quotients of numbers remain. *)

Ltac written_out_in H :=
  cbv beta iota zeta delta [total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows
    length_of vector_of matrix_of marked_vector marked_matrix andb eliminated nth Nat.eqb Z.of_nat Pos.of_succ_nat Pos.succ tanh sinh cosh
    Rpower pow] in H.
Ltac write_out :=
  cbv beta iota zeta delta [total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows
    length_of vector_of matrix_of marked_vector marked_matrix andb eliminated nth Nat.eqb Z.of_nat Pos.of_succ_nat Pos.succ tanh sinh cosh
    Rpower pow].

(* Intervals between Coq's own integers. With machine integers, a proof would rest on axioms about them. *)
Module Floats := SpecificFloat StdZRadix2.
Module Intervals := IntervalTactic Floats.
Import Intervals.

(* Goal: x < y. First by linear arithmetic, then with intervals. *)
Ltac by_numbers := first [ lra | interval with (i_prec 60) | interval with (i_prec 240) ].

(* Goal: x <> y *)
Ltac apart_by_numbers := first
  [ apply Rlt_not_eq; by_numbers | apply Rgt_not_eq; by_numbers ].

(* ---- Rounding ----

   Rounding to fp32, as Flocq defines it: to the nearest number with 24 binary digits, none below 2^-149, ties to even. *)
Definition rounded_fp32 (x : R) : R := Generic_fmt.round Zaux.radix2 (FLT.FLT_exp (-149) 24) (Generic_fmt.Znearest (fun z => negb (Z.even z))) x.

Lemma nearest_even (y : R) m :
  (IZR m - / 2 < y < IZR m + / 2) \/ (Z.even m = true /\ IZR m - / 2 <= y <= IZR m + / 2) ->
  Generic_fmt.Znearest (fun z => negb (Z.even z)) y = m.
Proof.
intros [inside | [even [above below]]]; [apply Generic_fmt.Znearest_imp, Rabs_def1; lra |].
destruct above as [above | tie]; [destruct below as [below | tie] |].
- apply Generic_fmt.Znearest_imp, Rabs_def1; lra.
- assert (floor : Raux.Zfloor y = m) by (apply Raux.Zfloor_imp; rewrite plus_IZR; lra).
  unfold Generic_fmt.Znearest; rewrite floor, Raux.Rcompare_Eq by lra; rewrite even; reflexivity.
- assert (floor : Raux.Zfloor y = (m - 1)%Z) by (apply Raux.Zfloor_imp; rewrite plus_IZR, minus_IZR; lra).
  unfold Generic_fmt.Znearest; rewrite floor, Raux.Rcompare_Eq by (rewrite minus_IZR; lra).
  rewrite Z.even_sub, even; simpl.
  apply Raux.Zceil_imp; rewrite minus_IZR; lra.
Qed.

(* x is rounded to m times u, where u is a power of two, the value of the last digit. *)
Lemma rounds_to (x u : R) (m e : Z) :
  u = Raux.bpow Zaux.radix2 e -> (-149 <= e)%Z -> x <> 0 ->
  8388608 * u <= x \/ x <= - (8388608 * u) \/ e = (-149)%Z -> - (16777216 * u) < x < 16777216 * u ->
  ((2 * IZR m - 1) * u < 2 * x < (2 * IZR m + 1) * u) \/
    (Z.even m = true /\ (2 * IZR m - 1) * u <= 2 * x <= (2 * IZR m + 1) * u) ->
  rounded_fp32 x = IZR m * u.
Proof.
intros power smallest nonzero large small near.
assert (positive : 0 < u) by (rewrite power; apply Raux.bpow_gt_0).
assert (exponent : Generic_fmt.cexp Zaux.radix2 (FLT.FLT_exp (-149) 24) x = e).
{ assert (below : Rabs x < Raux.bpow Zaux.radix2 (e + 24)).
  { rewrite Raux.bpow_plus, <- power; simpl; apply Rabs_def1; lra. }
  unfold Generic_fmt.cexp, FLT.FLT_exp.
  assert (above : Raux.bpow Zaux.radix2 (e + 24 - 1) <= Rabs x \/ e = (-149)%Z).
  { replace (e + 24 - 1)%Z with (e + 23)%Z by lia; rewrite Raux.bpow_plus, <- power; simpl.
    destruct large as [l | [l | l]]; [left | left | right; exact l].
    - rewrite Rabs_pos_eq; lra.
    - rewrite Rabs_left1; lra. }
  destruct above as [above | last].
  - rewrite (Raux.mag_unique _ _ _ (conj above below)); lia.
  - pose proof (Raux.mag_le_bpow _ _ _ nonzero below); lia. }
unfold rounded_fp32, Generic_fmt.round, Generic_fmt.scaled_mantissa; rewrite exponent.
rewrite (nearest_even _ m).
- unfold Defs.F2R; simpl; rewrite power; reflexivity.
- rewrite Raux.bpow_opp, <- power.
  assert (times : x = x * / u * u) by (field; lra).
  set (y := x * / u) in *; clearbody y.
  destruct near as [[l r] | [even [l r]]]; [left | right; split; [exact even |]].
  + split; apply (Rmult_lt_reg_r (2 * u)); lra.
  + split; apply (Rmult_le_reg_r (2 * u)); lra.
Qed.

Lemma rounds_zero (x : R) : x = 0 -> rounded_fp32 x = 0.
Proof. intros ->; apply Generic_fmt.round_0, Generic_fmt.valid_rnd_N. Qed.

(* Adds the fact that numbers near m times u = 2^e are rounded to it *)
Ltac power_of_two := cbv beta iota delta [Raux.bpow];
  first [reflexivity | apply (f_equal IZR) | apply (f_equal Rinv), (f_equal IZR)]; vm_compute; reflexivity.
Ltac rounds_near m e u :=
  let power := fresh "power" in assert (power : u = Raux.bpow Zaux.radix2 e) by power_of_two;
  let smallest := fresh "smallest" in assert (smallest : (-149 <= e)%Z) by (clear; lia);
  let near := fresh "near" in pose proof (fun x => @rounds_to x u m e power smallest) as near; clear power smallest.
(* Replaces rounded numbers in the goal by their known values *)
Ltac rounded_away := repeat match goal with
  | |- context [rounded_fp32 ?x] =>
    lazymatch x with context [rounded_fp32 _] => fail | _ => idtac end;
    match goal with
    | near : forall x, _ -> _ -> _ -> _ -> rounded_fp32 x = _ |- _ =>
      rewrite (near x);
      [ | solve [apart_by_numbers]
        | solve [left; by_numbers | right; left; by_numbers | right; right; reflexivity]
        | solve [split; by_numbers]
        | solve [left; split; by_numbers | right; split; [reflexivity | split; by_numbers]] ]
    | |- _ => rewrite (@rounds_zero x) by by_numbers
    end
  end.

(* Side conditions of a derivative at a point *)
Ltac slope_is_there := repeat split; first [exact I | apart_by_numbers | by_numbers].
(* Evaluates the derivatives in H *)
Ltac slopes_taken_in H := repeat match type of H with context [Derive ?f ?x] =>
    let e := fresh "e" in eassert (e : is_derive f x _) by (auto_derive; [slope_is_there | reflexivity]);
    apply is_derive_unique in e; rewrite e in H; clear e
  end.

(* Goal: a condition on a number, or a place below a size; possibly for all places of a counterexample *)
Ltac settled := intros;
  repeat match goal with
  | H : (?k < S _)%nat |- _ => is_var k; destruct k as [|k]; [clear H | apply Nat.succ_lt_mono in H]
  | H : (?k < O)%nat |- _ => exfalso; inversion H
  end;
  lazymatch goal with
  | |- (_ < _)%nat => lia
  | |- ex_derive _ _ => write_out; auto_derive; slope_is_there
  | |- _ <> _ => write_out; rounded_away; apart_by_numbers
  | |- _ => write_out; rounded_away; by_numbers
  end.

(* Proves the premises of H at the given values, and leaves its conclusion *)
Ltac premises_settled H := lazymatch type of H with
  | ?P -> ?Q => let p := fresh in assert (p : P) by settled; specialize (H p); clear p; premises_settled H
  | _ => idtac
  end.

(* Goal: False, because H states a false relation between numbers *)
Ltac false_at H := let h := fresh in pose proof H as h; premises_settled h; written_out_in h; slopes_taken_in h; revert h; rounded_away; intros h;
  lazymatch type of h with
  | _ = _ => revert h; apart_by_numbers
  | _ <= _ => apply Rle_not_lt in h; apply h; by_numbers
  end.

(* H says that a matrix has at most some rank. Each step of elimination lowers that rank by one; at zero, H says that an entry is zero. *)
Ltac rank_bounded H := try (unfold rank_is in H; apply proj1 in H).
Ltac pivot_at H p q := apply (@rank_eliminated _ _ _ _ p q) in H; [| lia | lia | write_out; apart_by_numbers].
Ltac not_zero_at H i j := apply (@no_rank_is_zero _ _ _ i j) in H; [| lia | lia]; revert H; write_out; apart_by_numbers.
