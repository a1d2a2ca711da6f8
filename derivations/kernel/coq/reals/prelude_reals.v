(* What the files over the real numbers share: what claims speak of, the lemmas about it, and the tactics.

   A tensor is a function of its places, which are counted from 0: a vector gives a number for a place, a matrix for a row and a
   column. How far it goes is said where it is used: a sum runs over the places below a size. All is proved here; what it rests on
   are the axioms of Coq's real numbers. *)
From Coq Require Export Reals Lra Lia List Arith.
From Coquelicot Require Export Coquelicot.
From Flocq Require Core.
From Interval Require Import Float.Specific_stdz Float.Specific_ops Tactic.
Export ListNotations.
Local Open Scope R_scope.

(* ---- What claims speak of ---- *)

(* The sum of a number for each place below n. *)
Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => total m f + f m end.

(* A size as a number. *)
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

Notation "\sum_ ( k < n ) f" := (total n (fun k => f)) (at level 41, f at level 41, k binder, n at level 60).

(* ---- At numbers ----

   What a claim speaks of is written out at the sizes of a counterexample: what is left are sums, products and quotients of numbers. *)

Ltac written_out_in H :=
  cbv beta iota zeta delta [total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows
    length_of vector_of matrix_of nth Nat.eqb Z.of_nat Pos.of_succ_nat Pos.succ tanh sinh cosh Rpower pow] in H.
Ltac write_out :=
  cbv beta iota zeta delta [total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows
    length_of vector_of matrix_of nth Nat.eqb Z.of_nat Pos.of_succ_nat Pos.succ tanh sinh cosh Rpower pow].

(* Intervals between numbers of Coq's own integers: with those of the machine, a proof would rest on what they are taken to do. *)
Module Floats := SpecificFloat StdZRadix2.
Module Intervals := IntervalTactic Floats.
Import Intervals.

(* One number is below another: by arithmetic if that does, else by computing with intervals. *)
Ltac by_numbers := first [ lra | interval with (i_prec 60) | interval with (i_prec 240) ].

(* That x is not y. *)
Ltac apart_by_numbers := first
  [ apply Rlt_not_eq; by_numbers | apply Rgt_not_eq; by_numbers ].

(* ---- Rounding ----

   To the nearest number of the format, ties to even, as Flocq has it: 24 binary digits, and none below 2^-149. *)
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

(* x is rounded to m times u, the power of two that its last digit stands for. *)
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

(* A rounding to m times u = 2^e becomes known. *)
Ltac power_of_two := cbv beta iota delta [Raux.bpow];
  first [reflexivity | apply (f_equal IZR) | apply (f_equal Rinv), (f_equal IZR)]; vm_compute; reflexivity.
Ltac rounds_near m e u :=
  let power := fresh "power" in assert (power : u = Raux.bpow Zaux.radix2 e) by power_of_two;
  let smallest := fresh "smallest" in assert (smallest : (-149 <= e)%Z) by (clear; lia);
  let near := fresh "near" in pose proof (fun x => @rounds_to x u m e power smallest) as near; clear power smallest.
(* In the goal, what is rounded is what is known. *)
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

(* A number that is not zero, is positive or is not negative; a place below a size; and either for each place of a counterexample. *)
Ltac settled := intros;
  repeat match goal with
  | H : (?k < S _)%nat |- _ => is_var k; destruct k as [|k]; [clear H | apply Nat.succ_lt_mono in H]
  | H : (?k < O)%nat |- _ => exfalso; inversion H
  end;
  lazymatch goal with
  | |- (_ < _)%nat => lia
  | |- _ <> _ => write_out; rounded_away; apart_by_numbers
  | |- _ => write_out; rounded_away; by_numbers
  end.

(* A statement that holds, at the values given, is brought to what it says of them. *)
Ltac premises_settled H := lazymatch type of H with
  | ?P -> ?Q => let p := fresh in assert (p : P) by settled; specialize (H p); clear p; premises_settled H
  | _ => idtac
  end.

(* It says what is false there. *)
Ltac false_at H := let h := fresh in pose proof H as h; premises_settled h; written_out_in h; revert h; rounded_away; intros h;
  lazymatch type of h with
  | _ = _ => revert h; apart_by_numbers
  | _ <= _ => apply Rle_not_lt in h; apply h; by_numbers
  end.
