(* What the files over the real numbers share: what claims speak of, the lemmas about it, and the tactics.

   A tensor is a function of its places, which are counted from 0: a vector gives a number for a place, a matrix for a row and a
   column. How far it goes is said where it is used: a sum runs over the places below a size. All is proved here; what it rests on
   are the axioms of Coq's real numbers. *)
From Coq Require Export Reals Lra Lia List Arith.
From Coquelicot Require Export Coquelicot.
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

(* A number that is not zero, is positive or is not negative; a place below a size; and either for each place of a counterexample. *)
Ltac settled := intros;
  repeat match goal with
  | H : (?k < S _)%nat |- _ => is_var k; destruct k as [|k]; [clear H | apply Nat.succ_lt_mono in H]
  | H : (?k < O)%nat |- _ => exfalso; inversion H
  end;
  lazymatch goal with
  | |- (_ < _)%nat => lia
  | |- _ <> _ => write_out; apart_by_numbers
  | |- _ => write_out; by_numbers
  end.

(* A statement that holds, at the values given, is brought to what it says of them. *)
Ltac premises_settled H := lazymatch type of H with
  | ?P -> ?Q => let p := fresh in assert (p : P) by settled; specialize (H p); clear p; premises_settled H
  | _ => idtac
  end.

(* It says what is false there. *)
Ltac false_at H := let h := fresh in pose proof H as h; premises_settled h; written_out_in h;
  lazymatch type of h with
  | _ = _ => revert h; apart_by_numbers
  | _ <= _ => apply Rle_not_lt in h; apply h; by_numbers
  end.
