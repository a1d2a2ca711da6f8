(* The prelude of files about limits: how fast a function grows or vanishes, operation by operation.

   Near the limit, everything is compared with a number b that grows without bound: the variable, or its inverse if the variable tends
   to zero. `like p q f v` says that f / (b^p exp(q b)) tends to v. A claim's proof names a lemma for each operation of its tree; the
   goals that remain compare numbers. Everything here is proved. *)
From Derivations Require Export PreludeReals.
Local Open Scope R_scope.

Definition scale (b p q : R) : R := exp (p * ln b + q * b).

Lemma scale_positive b p q : 0 < scale b p q. Proof. apply exp_pos. Qed.
Lemma scale_not_zero b p q : scale b p q <> 0. Proof. apply Rgt_not_eq, scale_positive. Qed.
Lemma scale_zero b : scale b 0 0 = 1. Proof. unfold scale; rewrite !Rmult_0_l, Rplus_0_l; apply exp_0. Qed.
Lemma scale_add b p q r s : scale b (p + r) (q + s) = scale b p q * scale b r s.
Proof. unfold scale; rewrite <- exp_plus; f_equal; ring. Qed.
Lemma scale_opp b p q : scale b (- p) (- q) = / scale b p q.
Proof. unfold scale; rewrite <- exp_Ropp; f_equal; ring. Qed.
Lemma scale_one b : 0 < b -> scale b 1 0 = b.
Proof. intros b0; unfold scale; rewrite Rmult_0_l, Rplus_0_r, Rmult_1_l; now apply exp_ln. Qed.
Lemma scale_half b p q : sqrt (scale b p q) = scale b (p / 2) (q / 2).
Proof.
apply sqrt_lem_1; [apply Rlt_le, scale_positive | apply Rlt_le, scale_positive |].
rewrite <- scale_add; f_equal; field.
Qed.

(* The scale vanishes: the factor in the exponential is negative, or it is zero and the power is negative. *)
Definition small (p q : R) : Prop := q < 0 \/ q = 0 /\ p < 0.
(* The scale grows. *)
Definition large (p q : R) : Prop := 0 < q \/ q = 0 /\ 0 < p.

Class Grows {T : Type} (F : (T -> Prop) -> Prop) (b : T -> R) : Prop := grows_without_bound : filterlim b F (Rbar_locally p_infty).

Section Limits.
Context {T : Type} {F : (T -> Prop) -> Prop} {FF : Filter F}.
Variable b : T -> R.
Context {grows : Grows F b}.

Definition tends (f : T -> R) (v : R) : Prop := filterlim f F (locally v).
Definition like (p q : R) (f : T -> R) (v : R) : Prop := tends (fun t => f t / scale (b t) p q) v.

Lemma tends_ext f g v : (forall t, f t = g t) -> tends f v -> tends g v.
Proof. apply filterlim_ext. Qed.
Lemma tends_near f g v : F (fun t => f t = g t) -> tends f v -> tends g v.
Proof. apply filterlim_ext_loc. Qed.
Lemma tends_as f v w : tends f v -> v = w -> tends f w. Proof. now intros H <-. Qed.
Lemma tends_const c : tends (fun _ => c) c. Proof. apply filterlim_const. Qed.
Lemma tends_add f g v w : tends f v -> tends g w -> tends (fun t => f t + g t) (v + w).
Proof. intros fv gw; exact (filterlim_comp_2 f g Rplus fv gw (filterlim_plus v w)). Qed.
Lemma tends_mul f g v w : tends f v -> tends g w -> tends (fun t => f t * g t) (v * w).
Proof. intros fv gw; exact (filterlim_comp_2 f g Rmult fv gw (filterlim_mult v w)). Qed.
Lemma tends_through (h : R -> R) f v : continuous h v -> tends f v -> tends (fun t => h (f t)) (h v).
Proof. intros hc fv; exact (filterlim_comp _ _ _ f h F _ _ fv hc). Qed.
Lemma continuous_derive (h : R -> R) v d : is_derive h v d -> continuous h v.
Proof. intros hd; apply (ex_derive_continuous h v); now exists d. Qed.

Lemma positive_near : F (fun t => 0 < b t).
Proof. apply grows; exists 0; auto. Qed.

(* A small scale tends to zero: its logarithm tends to minus infinity. *)
Lemma small_vanishes p q : small p q -> tends (fun t => scale (b t) p q) 0.
Proof.
intros sm.
assert (exponent : is_lim (fun x => p * ln x + q * x) p_infty m_infty).
{ destruct sm as [q0 | [-> p0]].
  - apply is_lim_ext_loc with (fun x => (p * (ln x / x) + q) * x).
    { exists 0; intros x x0; field; lra. }
    replace m_infty with (Rbar_mult (Rbar_plus (Rbar_mult p 0) q) p_infty).
    + apply is_lim_mult; [| apply is_lim_id |].
      * apply is_lim_plus'; [| apply is_lim_const].
        apply (is_lim_scal_l (fun x => ln x / x) p p_infty 0), is_lim_div_ln_p.
      * simpl; lra.
    + simpl; rewrite Rmult_0_r, Rplus_0_l; destruct (Rle_dec 0 q) as [h |]; [exfalso; lra | reflexivity].
  - apply is_lim_ext with (fun x => p * ln x); [intros x; ring |].
    replace m_infty with (Rbar_mult p p_infty).
    + apply (is_lim_scal_l ln p p_infty p_infty), is_lim_ln_p.
    + simpl; destruct (Rle_dec 0 p) as [h |]; [exfalso; lra | reflexivity]. }
assert (down : is_lim (fun x => scale x p q) p_infty 0).
{ unfold scale; apply (is_lim_comp exp _ p_infty 0 m_infty).
  - apply is_lim_exp_m.
  - exact exponent.
  - exists 0; intros x _; discriminate. }
exact (filterlim_comp _ _ _ b (fun x => scale x p q) F _ _ grows down).
Qed.

Lemma like_ext p q f g v : (forall t, g t = f t) -> like p q f v -> like p q g v.
Proof. intros fg; apply tends_ext; intros t; now rewrite fg. Qed.
Lemma like_const c : like 0 0 (fun _ => c) c.
Proof. apply tends_ext with (2 := tends_const c); intros t; rewrite scale_zero; field. Qed.
Lemma like_base : like 1 0 b 1.
Proof.
apply tends_near with (2 := tends_const 1); apply filter_imp with (2 := positive_near).
intros t t0; rewrite scale_one by assumption; field; lra.
Qed.
Lemma like_inverse_base : like (- (1)) (- (0)) (fun t => / b t) 1.
Proof.
apply tends_near with (2 := tends_const 1); apply filter_imp with (2 := positive_near).
intros t t0; rewrite scale_opp, scale_one by assumption; field; lra.
Qed.
Lemma like_opp p q f v : like p q f v -> like p q (fun t => - f t) (- v).
Proof.
intros fv; apply tends_as with (- (1) * v); [| ring].
apply tends_ext with (2 := tends_mul _ _ _ _ (tends_const (- (1))) fv); intros t; unfold Rdiv; ring.
Qed.
Lemma like_mul p q r s f g v w : like p q f v -> like r s g w -> like (p + r) (q + s) (fun t => f t * g t) (v * w).
Proof.
intros fv gw; apply tends_ext with (2 := tends_mul _ _ _ _ fv gw); intros t; rewrite scale_add; field; split; apply scale_not_zero.
Qed.
Lemma like_inv p q f v : like p q f v -> v <> 0 -> like (- p) (- q) (fun t => / f t) (/ v).
Proof.
intros fv v0; apply tends_ext with (fun t => / (f t / scale (b t) p q)).
- intros t; rewrite scale_opp; unfold Rdiv; rewrite Rinv_mult, !Rinv_inv; ring.
- apply tends_through with (2 := fv); now apply continuous_Rinv.
Qed.
Lemma like_add p q r s f g v w : like p q f v -> like r s g w -> p = r -> q = s -> like p q (fun t => f t + g t) (v + w).
Proof.
intros fv gw <- <-; apply tends_ext with (2 := tends_add _ _ _ _ fv gw); intros t; field; apply scale_not_zero.
Qed.
(* On a larger scale the function tends to zero, so the smaller of two summands can be neglected. *)
Lemma like_slower p q r s f v : like p q f v -> small (p - r) (q - s) -> like r s f 0.
Proof.
intros fv sm; apply tends_as with (v * 0); [| ring].
apply tends_ext with (2 := tends_mul _ _ _ _ fv (small_vanishes _ _ sm)); intros t.
unfold Rminus; rewrite scale_add, scale_opp; field; split; apply scale_not_zero.
Qed.
Lemma like_add_slower p q r s f g v w : like p q f v -> like r s g w -> small (r - p) (s - q) -> like p q (fun t => f t + g t) v.
Proof.
intros fv gw sm; apply tends_as with (v + 0); [| ring].
apply (like_add p q p q) ; [assumption | now apply like_slower with r s w | reflexivity..].
Qed.
Lemma like_slower_add p q r s f g v w : like p q f v -> like r s g w -> small (p - r) (q - s) -> like r s (fun t => f t + g t) w.
Proof.
intros fv gw sm; apply tends_as with (0 + w); [| ring].
apply (like_add r s r s); [now apply like_slower with p q v | assumption | reflexivity..].
Qed.
Lemma like_pow p q f v n : like p q f v -> like (INR n * p) (INR n * q) (fun t => f t ^ n) (v ^ n).
Proof.
intros fv; induction n as [| n before].
- simpl INR; rewrite !Rmult_0_l; apply like_const.
- rewrite S_INR; replace ((INR n + 1) * p) with (p + INR n * p) by ring; replace ((INR n + 1) * q) with (q + INR n * q) by ring.
  exact (like_mul _ _ _ _ _ _ _ _ fv before).
Qed.
Lemma like_sqrt p q f v : like p q f v -> like (p / 2) (q / 2) (fun t => sqrt (f t)) (sqrt v).
Proof.
intros fv; apply tends_ext with (fun t => sqrt (f t / scale (b t) p q)).
- intros t; rewrite <- scale_half; apply sqrt_div_alt, scale_positive.
- apply tends_through with (2 := fv); apply continuous_sqrt.
Qed.
Lemma like_sum p q n (f : T -> nat -> R) v : (forall k, (k < n)%nat -> like p q (fun t => f t k) (v k)) ->
  like p q (fun t => total n (f t)) (total n v).
Proof.
intros fv; induction n as [| n before].
- apply tends_ext with (2 := tends_const 0); intros t; simpl; unfold Rdiv; ring.
- apply (like_add p q p q); [apply before; intros k kn; apply fv; lia | apply fv; lia | reflexivity..].
Qed.

(* Bounded functions *)
Lemma like_still p q f v : like p q f v -> p = 0 -> q = 0 -> like 0 0 f v. Proof. now intros fv <- <-. Qed.
Lemma like_vanishing p q f v : like p q f v -> small p q -> like 0 0 f 0.
Proof. intros fv sm; apply like_slower with p q v; [assumption | now rewrite !Rminus_0_r]. Qed.
Lemma like_limit f v w : like 0 0 f v -> v = w -> tends f w.
Proof. intros fv <-; apply tends_ext with (2 := fv); intros t; rewrite scale_zero; field. Qed.
Lemma limit_like f v : tends f v -> like 0 0 f v.
Proof. intros fv; apply tends_ext with (2 := fv); intros t; rewrite scale_zero; field. Qed.
Lemma like_through h f v : like 0 0 f v -> continuous h v -> like 0 0 (fun t => h (f t)) (h v).
Proof. intros fv hc; apply limit_like, tends_through; [assumption | now apply like_limit with (1 := fv)]. Qed.
Lemma like_exp f v : like 0 0 f v -> like 0 0 (fun t => exp (f t)) (exp v).
Proof. intros fv; apply like_through; [assumption | apply continuous_exp]. Qed.
Lemma like_ln f v : like 0 0 f v -> 0 < v -> like 0 0 (fun t => ln (f t)) (ln v).
Proof. intros fv v0; apply like_through; [assumption | now apply continuous_derive with (/ v), is_derive_ln]. Qed.
Lemma derive_tanh v : is_derive tanh v (1 - tanh v ^ 2).
Proof.
assert (c0 : 0 < cosh v) by (unfold cosh; assert (e := exp_pos v); assert (o := exp_pos (- v)); lra).
assert (s : is_derive sinh v (cosh v)) by apply is_derive_Reals, derivable_pt_lim_sinh.
assert (c : is_derive cosh v (sinh v)) by apply is_derive_Reals, derivable_pt_lim_cosh.
replace (1 - tanh v ^ 2) with ((cosh v * cosh v - sinh v * sinh v) / cosh v ^ 2) by (unfold tanh; field; lra).
apply (is_derive_div sinh cosh); [assumption | assumption | lra].
Qed.
Lemma continuous_tanh v : continuous tanh v.
Proof. exact (continuous_derive _ _ _ (derive_tanh v)). Qed.
Lemma like_tanh f v : like 0 0 f v -> like 0 0 (fun t => tanh (f t)) (tanh v).
Proof. intros fv; apply like_through; [assumption | apply continuous_tanh]. Qed.
Lemma like_sin f v : like 0 0 f v -> like 0 0 (fun t => sin (f t)) (sin v).
Proof. intros fv; apply like_through; [assumption | apply continuous_sin]. Qed.
Lemma like_cos f v : like 0 0 f v -> like 0 0 (fun t => cos (f t)) (cos v).
Proof. intros fv; apply like_through; [assumption | apply continuous_cos]. Qed.

(* The exponential of a multiple of b plus a bounded function *)
Lemma like_exp_multiple k r f v : (forall t, f t = k * b t + r t) -> like 0 0 r v -> like 0 k (fun t => exp (f t)) (exp v).
Proof.
intros split rv; apply tends_ext with (fun t => exp (r t) / scale (b t) 0 0).
- intros t; rewrite split, exp_plus, scale_zero; unfold scale; rewrite Rmult_0_l, Rplus_0_l; field; apply Rgt_not_eq, exp_pos.
- exact (like_exp _ _ rv).
Qed.
(* The exponential of a function that falls like a multiple of b if s is zero, and is bounded if s is one *)
Lemma like_exp_switched k s r f v : 0 < k -> s = 0 \/ s = 1 -> (forall t, f t = r t + - (k * b t * (1 + - s))) -> like 0 0 r v ->
  like 0 0 (fun t => exp (f t)) (s * exp v).
Proof.
intros k0 [-> | ->] split rv.
- rewrite Rmult_0_l; apply like_vanishing with 0 (- k) (exp v); [apply like_exp_multiple with r | left; lra]; [| assumption].
  intros t; rewrite split; ring.
- rewrite Rmult_1_l; apply like_ext with (fun t => exp (r t)); [intros t; rewrite split; f_equal; ring | now apply like_exp].
Qed.

(* The hyperbolic tangent of a function that tends to plus or minus infinity *)
Lemma tanh_by_exp x : tanh x = 1 + - (2 * / (exp (2 * x) + 1)).
Proof.
unfold tanh, sinh, cosh; replace (2 * x) with (x + x) by ring; rewrite exp_plus, exp_Ropp.
assert (e := exp_pos x); field; split; nra.
Qed.
Lemma large_grows p q f v : like p q f v -> large p q -> 0 < v -> filterlim f F (Rbar_locally p_infty).
Proof.
intros fv lg v0.
assert (inverse : tends (fun t => / f t) 0).
{ apply like_limit with (2 := eq_refl); apply like_vanishing with (- p) (- q) (/ v).
  - apply like_inv; [assumption | lra].
  - unfold small, large in *; lra. }
assert (above : F (fun t => 0 < f t)).
{ assert (h := fv (fun y => 0 < y)); unfold filtermap in h.
  apply filter_imp with (2 := h (open_gt 0 v v0)); intros t t0.
  replace (f t) with (f t / scale (b t) p q * scale (b t) p q) by (field; apply scale_not_zero).
  apply Rmult_lt_0_compat; [assumption | apply scale_positive]. }
apply filterlim_ext with (fun t => / / f t); [intros t; apply Rinv_inv |].
apply filterlim_comp with (G := at_right 0); [| apply filterlim_Rinv_0_right].
intros P HP; unfold at_right, within in HP; unfold filtermap.
assert (near := inverse _ HP); unfold filtermap in near; apply filter_imp with (2 := filter_and _ _ near above); clear near; intros t [near t0]; apply near, Rinv_0_lt_compat, t0.
Qed.
Lemma like_tanh_up p q f v : like p q f v -> large p q -> 0 < v -> like 0 0 (fun t => tanh (f t)) 1.
Proof.
intros fv lg v0; apply limit_like; assert (up := large_grows _ _ _ _ fv lg v0).
assert (lim : is_lim tanh p_infty 1).
{ apply is_lim_ext with (fun x => 1 + - (2 * / (exp (2 * x) + 1))); [intros x; now rewrite tanh_by_exp |].
  assert (z : is_lim (fun x => / (exp (2 * x) + 1)) p_infty 0).
  { apply (is_lim_inv _ p_infty p_infty); [| discriminate].
    apply (is_lim_plus _ _ _ p_infty 1); [| apply is_lim_const | reflexivity].
    apply (is_lim_comp exp _ p_infty p_infty p_infty); [apply is_lim_exp_p | | exists 0; discriminate].
    replace p_infty with (Rbar_mult 2 p_infty) at 2.
    - apply (is_lim_scal_l (fun x => x)), is_lim_id.
    - simpl; destruct (Rle_dec 0 2) as [h | h]; [destruct (Rle_lt_or_eq_dec 0 2 h); [reflexivity | exfalso; lra] | exfalso; lra]. }
  replace (Finite 1) with (Finite (1 + - (2 * 0))) by (f_equal; ring).
  apply (is_lim_plus' _ _ _ 1 (- (2 * 0))); [apply is_lim_const |].
  apply (is_lim_opp _ _ (2 * 0)), (is_lim_scal_l _ 2 _ 0), z. }
exact (filterlim_comp _ _ _ f tanh F _ _ up lim).
Qed.
Lemma like_tanh_down p q f v : like p q f v -> large p q -> v < 0 -> like 0 0 (fun t => tanh (f t)) (- (1)).
Proof.
intros fv lg v0; apply like_ext with (fun t => - tanh (- f t)).
- intros t; unfold tanh, sinh, cosh; rewrite Ropp_involutive; assert (e := exp_pos (f t)); assert (o := exp_pos (- f t)); field; lra.
- apply like_opp; apply like_tanh_up with p q (- v); [now apply like_opp | assumption | lra].
Qed.

(* If h(0) = 0, then h(f) behaves like h'(0) f for a vanishing f. *)
Definition touches (h : R -> R) (d : R) : Prop := h 0 = 0 /\ is_derive h 0 d.
Definition quotient (h : R -> R) (d y : R) : R := if Req_EM_T y 0 then d else h y / y.
Lemma like_touching h d p q f v : touches h d -> like p q f v -> small p q -> like p q (fun t => h (f t)) (d * v).
Proof.
intros [h0 slope] fv sm; apply like_ext with (fun t => quotient h d (f t) * f t).
- intros t; unfold quotient; destruct (Req_EM_T (f t) 0) as [-> | n]; [rewrite h0; ring | field; assumption].
- assert (ct : continuous (quotient h d) 0).
  { apply is_derive_Reals in slope; intros P [e near]; unfold filtermap.
    assert (one : quotient h d 0 = d) by (unfold quotient; destruct (Req_EM_T 0 0) as [_ | []]; reflexivity).
    destruct (slope e (cond_pos e)) as [w close]; exists w; intros y yd; apply near; rewrite one.
    unfold quotient; destruct (Req_EM_T y 0) as [-> | n]; [apply ball_center |].
    assert (k := close y n); rewrite Rplus_0_l, h0, Rminus_0_r in k; apply k.
    unfold ball in yd; simpl in yd; unfold AbsRing_ball, abs, minus, plus, opp in yd; simpl in yd; now rewrite Ropp_0, Rplus_0_r in yd. }
  assert (one : like 0 0 (fun t => quotient h d (f t)) (quotient h d 0)).
  { apply like_through; [now apply like_vanishing with p q v | assumption]. }
  assert (both := like_mul _ _ _ _ _ _ _ _ one fv); unfold quotient in both at 2.
  destruct (Req_EM_T 0 0) as [_ | []]; [| reflexivity].
  now rewrite !Rplus_0_l in both.
Qed.
Lemma like_touching_one h p q f v : touches h 1 -> like p q f v -> small p q -> like p q (fun t => h (f t)) v.
Proof. intros ht fv sm; rewrite <- (Rmult_1_l v); now apply like_touching. Qed.
Lemma sin_touches : touches sin 1.
Proof. split; [apply sin_0 |]; rewrite <- cos_0; apply is_derive_Reals, derivable_pt_lim_sin. Qed.
Lemma tanh_zero : tanh 0 = 0.
Proof. unfold tanh; rewrite sinh_0; unfold Rdiv; ring. Qed.
Lemma tanh_touches : touches tanh 1.
Proof. split; [apply tanh_zero |]; replace 1 with (1 - tanh 0 ^ 2) by (rewrite tanh_zero; ring); apply derive_tanh. Qed.
Lemma ln_touches : touches (fun y => ln (1 + y)) 1.
Proof.
split; [rewrite Rplus_0_r; apply ln_1 |].
auto_derive; [lra | field].
Qed.
Lemma like_sin_small p q f v : like p q f v -> small p q -> like p q (fun t => sin (f t)) v.
Proof. apply like_touching_one, sin_touches. Qed.
Lemma like_tanh_small p q f v : like p q f v -> small p q -> like p q (fun t => tanh (f t)) v.
Proof. apply like_touching_one, tanh_touches. Qed.
Lemma like_ln_near_one g p q f v : (forall t, f t = 1 + g t) -> like p q g v -> small p q -> like p q (fun t => ln (f t)) v.
Proof.
intros split gv sm; apply like_ext with (fun t => ln (1 + g t)); [intros t; now rewrite split |].
now apply (like_touching_one (fun y => ln (1 + y))); [apply ln_touches | |].
Qed.

(* Expansions to first order: f is a constant plus a term of a small scale *)
Definition expands (p q : R) (f : T -> R) (a v : R) : Prop := like p q (fun t => f t - a) v.
Lemma expands_like p q f a v : expands p q f a v -> a = 0 -> like p q f v.
Proof. intros fv ->; apply like_ext with (2 := fv); intros t; ring. Qed.
Lemma expands_const p q c : expands p q (fun _ => c) c 0.
Proof. apply tends_ext with (2 := tends_const 0); intros t; unfold Rdiv; ring. Qed.
Lemma expands_vanishing p q r s f v : like r s f v -> r = p -> s = q -> expands p q f 0 v.
Proof. intros fv <- <-; apply like_ext with (2 := fv); intros t; ring. Qed.
Lemma expands_slower p q r s f v : like r s f v -> small (r - p) (s - q) -> expands p q f 0 0.
Proof. intros fv sm; apply like_ext with f; [intros t; ring | now apply like_slower with r s v]. Qed.
Lemma expands_add p q f g a c v w : expands p q f a v -> expands p q g c w -> expands p q (fun t => f t + g t) (a + c) (v + w).
Proof.
intros fv gw; apply like_ext with (fun t => (f t - a) + (g t - c)); [intros t; ring |].
now apply (like_add p q p q).
Qed.
Lemma expands_opp p q f a v : expands p q f a v -> expands p q (fun t => - f t) (- a) (- v).
Proof. intros fv; apply like_ext with (2 := like_opp _ _ _ _ fv); intros t; ring. Qed.
Lemma expands_tends p q f a v : expands p q f a v -> small p q -> like 0 0 f a.
Proof.
intros fv sm; apply like_ext with (fun t => (f t - a) + a); [intros t; ring |].
apply tends_as with (0 + a); [| ring].
apply (like_add 0 0 0 0); [now apply like_vanishing with p q v | apply like_const | reflexivity..].
Qed.
Lemma expands_mul p q f g a c v w : expands p q f a v -> expands p q g c w -> small p q ->
  expands p q (fun t => f t * g t) (a * c) (v * c + a * w).
Proof.
intros fv gw sm; apply like_ext with (fun t => (f t - a) * g t + a * (g t - c)); [intros t; ring |].
apply (like_add p q p q); [| | reflexivity..].
- replace p with (p + 0) by ring; replace q with (q + 0) by ring; apply like_mul; [assumption | now apply expands_tends with p q w].
- replace p with (0 + p) by ring; replace q with (0 + q) by ring; apply like_mul; [apply like_const | assumption].
Qed.
Lemma expands_through h d p q f a v : is_derive h a d -> expands p q f a v -> small p q -> expands p q (fun t => h (f t)) (h a) (d * v).
Proof.
intros slope fv sm; apply like_ext with (fun t => h (a + (f t - a)) - h a); [intros t; do 2 f_equal; ring |].
apply (like_touching (fun y => h (a + y) - h a) d); [| assumption | assumption].
split; [rewrite Rplus_0_r; ring |].
rewrite <- (Rplus_0_r a) in slope.
assert (k := is_derive_comp h (fun y => a + y) 0 d 1 slope).
assert (one : is_derive (fun y : R => a + y) 0 1) by (auto_derive; [exact I | ring]).
assert (m := is_derive_minus _ (fun _ => h a) 0 _ 0 (k one) (is_derive_const (h a) 0)).
replace d with (minus (scal 1 d) 0); [exact m |].
unfold minus, plus, opp, scal; simpl; unfold mult; simpl; ring.
Qed.
Lemma expands_inv p q f a v : expands p q f a v -> small p q -> a <> 0 -> expands p q (fun t => / f t) (/ a) (- (1) / a ^ 2 * v).
Proof.
intros fv sm a0; apply (expands_through Rinv); [| assumption | assumption].
auto_derive; [assumption | field; assumption].
Qed.
Lemma expands_exp p q f a v : expands p q f a v -> small p q -> expands p q (fun t => exp (f t)) (exp a) (exp a * v).
Proof. intros fv sm; apply (expands_through exp); [apply is_derive_exp | assumption | assumption]. Qed.

(* What holds near the limit *)
Lemma like_positive p q f v : like p q f v -> 0 < v -> F (fun t => 0 < f t).
Proof.
intros fv v0; assert (h := fv _ (open_gt 0 v v0)); unfold filtermap in h; apply filter_imp with (2 := h); intros t t0.
replace (f t) with (f t / scale (b t) p q * scale (b t) p q) by (field; apply scale_not_zero).
apply Rmult_lt_0_compat; [assumption | apply scale_positive].
Qed.
Lemma like_nonnegative p q f v : like p q f v -> 0 < v -> F (fun t => 0 <= f t).
Proof. intros fv v0; apply filter_imp with (2 := like_positive _ _ _ _ fv v0); intros t; apply Rlt_le. Qed.
Lemma like_not_zero p q f v : like p q f v -> v <> 0 -> F (fun t => f t <> 0).
Proof.
intros fv v0; assert (h := fv _ (open_neq 0 v v0)); unfold filtermap in h; apply filter_imp with (2 := h); intros t t0 f0; apply t0.
rewrite f0; unfold Rdiv; ring.
Qed.
End Limits.

(* The three kinds of variables: a real number that grows, a size that grows, a number that tends to zero from above *)
Definition itself (x : R) : R := x.
Definition counted (n : nat) : R := number n.
Definition reciprocal (x : R) : R := / x.
#[export] Instance itself_grows : Grows (Rbar_locally' p_infty) itself.
Proof. intros P H; exact H. Qed.
#[export] Instance counted_grows : Grows eventually counted.
Proof. apply filterlim_ext with INR; [intros n; apply INR_IZR_INZ | exact is_lim_seq_INR]. Qed.
#[export] Instance reciprocal_grows : Grows (at_right 0) reciprocal.
Proof. exact filterlim_Rinv_0_right. Qed.
Lemma like_itself : like (F := Rbar_locally' p_infty) itself 1 0 (fun x => x) 1.
Proof. exact (like_base itself). Qed.
Lemma like_counted : like (F := eventually) counted 1 0 (fun n => number n) 1.
Proof. exact (like_base counted). Qed.
Lemma like_small : like (F := at_right 0) reciprocal (- (1)) (- (0)) (fun x => x) 1.
Proof. apply like_ext with (2 := like_inverse_base reciprocal); intros x; symmetry; apply Rinv_inv. Qed.

(* ---- Tactics, one for each operation ---- *)

Ltac only_known := unfold Rminus, Rdiv, Rpower; cbv beta.
(* Reduces a limit, or a condition near the limit, to `like` *)
Ltac goes F b := only_known; unfold is_lim, is_lim_seq;
  lazymatch goal with
  | |- filterlim ?f _ _ => refine (like_limit (F := F) b f _ _ _ _)
  | |- _ (fun t => @?f t <> 0) => refine (like_not_zero (F := F) b _ _ f _ _ _)
  | |- _ (fun t => 0 < @?f t) => refine (like_positive (F := F) b _ _ f _ _ _)
  | |- _ (fun t => 0 <= @?f t) => refine (like_nonnegative (F := F) b _ _ f _ _ _)
  end.
Ltac growing := goes (Rbar_locally' p_infty) itself.
Ltac counting := goes (@eventually) counted.
Ltac coming_down := goes (at_right 0) reciprocal.

Ltac settles := refine (like_still _ _ _ _ _ _ _ _).
Ltac vanishes := refine (like_vanishing _ _ _ _ _ _ _).
Ltac constant := exact (like_const _ _).
Ltac moving := first [exact like_itself | exact like_counted | exact like_small].
Ltac opposite := refine (like_opp _ _ _ _ _ _).
Ltac product := refine (like_mul _ _ _ _ _ _ _ _ _ _ _).
Ltac inverse := refine (like_inv _ _ _ _ _ _ _).
Ltac alike := refine (like_add _ _ _ _ _ _ _ _ _ _ _ _ _).
Ltac first_leads := refine (like_add_slower _ _ _ _ _ _ _ _ _ _ _ _).
Ltac second_leads := refine (like_slower_add _ _ _ _ _ _ _ _ _ _ _ _).
Ltac power := refine (like_pow _ _ _ _ _ _ _).
Ltac root := refine (like_sqrt _ _ _ _ _ _).
Tactic Notation "summed" ident(k) := refine (like_sum _ _ _ _ _ _ _); intros k ?; cbv beta.
Ltac exponential := refine (like_exp _ _ _ _).
Ltac exponential_of k r := refine (like_exp_multiple _ k r _ _ _ _); [intros ?; unfold itself, counted, reciprocal; only_known; first [ring | field] | only_known].
Ltac zero_or_one := match goal with
  | H : forall _ : nat, (_ < _)%nat -> _ \/ _, below : (_ < _)%nat |- _ => solve [destruct (H _ below); first [left; lra | right; lra]]
  | H : _ = 0 \/ _ = 1 |- _ => solve [destruct H; first [left; lra | right; lra]]
  end.
Ltac exponential_switched k s r := refine (like_exp_switched _ k s r _ _ _ _ _ _);
  [ lra | zero_or_one
  | intros ?; unfold itself, counted, reciprocal; only_known; ring | only_known ].
Ltac logarithm := refine (like_ln _ _ _ _ _).
Ltac logarithm_near_one g := refine (like_ln_near_one _ g _ _ _ _ _ _ _); [intros ?; only_known; first [ring | field] | only_known |].
Ltac tangent := refine (like_tanh _ _ _ _).
Ltac tangent_up := refine (like_tanh_up _ _ _ _ _ _ _ _).
Ltac tangent_down := refine (like_tanh_down _ _ _ _ _ _ _ _).
Ltac tangent_small := refine (like_tanh_small _ _ _ _ _ _ _).
Ltac sine := refine (like_sin _ _ _ _).
Ltac sine_small := refine (like_sin_small _ _ _ _ _ _ _).
Ltac cosine := refine (like_cos _ _ _ _).
Ltac first_order := refine (expands_like _ (- (1)) 0 _ _ _ _ _).
Ltac same_order := refine (expands_vanishing _ _ _ _ _ _ _ _ _ _).
Ltac higher_order := refine (expands_slower _ _ _ _ _ _ _ _ _).
Ltac constant_1 := exact (expands_const _ _ _ _).
Ltac sum_1 := refine (expands_add _ _ _ _ _ _ _ _ _ _ _).
Ltac opposite_1 := refine (expands_opp _ _ _ _ _ _ _).
Ltac product_1 := refine (expands_mul _ _ _ _ _ _ _ _ _ _ _ _).
Ltac inverse_1 := refine (expands_inv _ _ _ _ _ _ _ _ _).
Ltac exponential_1 := refine (expands_exp _ _ _ _ _ _ _ _).

(* ---- The remaining goals: comparisons of scales, signs, values ---- *)

Ltac compared := unfold small, large; simpl INR; lra.

Lemma positive_not_zero x : 0 < x -> x <> 0.
Proof. intros; lra. Qed.
Lemma number_positive n : (0 < n)%nat -> 0 < number n.
Proof. intros n0; apply IZR_lt; lia. Qed.
Lemma total_positive n f : (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < total n f.
Proof.
intros n0 pos; destruct n as [| n]; [inversion n0 | clear n0].
induction n as [| n before]; simpl.
- rewrite Rplus_0_l; apply pos; lia.
- apply Rplus_lt_0_compat; [apply before; intros k kn; apply pos; lia | apply pos; lia].
Qed.

Ltac above_zero := lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < ?a * ?b => first [assumption | apply Rmult_lt_0_compat; above_zero]
  | |- 0 < / _ => apply Rinv_0_lt_compat; above_zero
  | |- 0 < number _ => apply number_positive; assumption
  | |- 0 < sqrt _ => apply sqrt_lt_R0; above_zero
  | |- 0 < _ ^ _ => apply pow_lt; above_zero
  | |- 0 < total _ _ => first [assumption | apply total_positive; [assumption | intros ? ?; above_zero]]
  | |- 0 < ?a + 0 => rewrite Rplus_0_r; above_zero
  | |- 0 < 0 + ?a => rewrite Rplus_0_l; above_zero
  | |- 0 < ?a + ?b => first [lra | apply Rplus_lt_0_compat; above_zero]
  | |- _ => first [assumption | lra]
  end.

Ltac not_zero := lazymatch goal with
  | |- ?a <> 0 => first
    [ assumption
    | solve [apply positive_not_zero; above_zero]
    | lra
    | match goal with H : ?c <> 0 |- _ => replace a with c by ring; exact H end
    | lazymatch a with
      | _ * _ => apply Rmult_integral_contrapositive_currified; not_zero
      | / _ => apply Rinv_neq_0_compat; not_zero
      | - _ => apply Ropp_neq_0_compat; not_zero
      | _ ^ _ => apply pow_nonzero; not_zero
      | ?b + 0 => rewrite Rplus_0_r; not_zero
      | 0 + ?b => rewrite Rplus_0_l; not_zero
      end ]
  end.
Ltac not_zeros := repeat match goal with |- _ /\ _ => split end; not_zero.

(* Exponentials of equal numbers become the same term; exp(- x) and exp(2 x) become powers of exp(x). *)
Lemma exp_same x y : x = y -> exp x = exp y. Proof. now intros ->. Qed.
Lemma exp_opposite x y : x = - y -> exp x = / exp y. Proof. intros ->; apply exp_Ropp. Qed.
Lemma exp_twice x y : x = 2 * y -> exp x = exp y * exp y. Proof. intros ->; rewrite <- exp_plus; f_equal; ring. Qed.
Lemma exp_minus_twice x y : x = - (2 * y) -> exp x = / (exp y * exp y). Proof. intros ->; rewrite exp_Ropp; f_equal; now apply exp_twice. Qed.
Lemma exp_at_zero x : x = 0 -> exp x = 1. Proof. intros ->; apply exp_0. Qed.
Ltac one_number := first [ring | field; not_zeros].
Ltac exponentials_met := rewrite ?exp_plus;
  repeat match goal with
  | |- context [exp ?a] => rewrite (exp_at_zero a) by one_number
  | |- context [exp ?a] => match goal with |- context [exp ?c] =>
    lazymatch a with c => fail | _ =>
      first [ rewrite (exp_same a c) by one_number | rewrite (exp_opposite a c) by one_number
            | rewrite (exp_twice a c) by one_number | rewrite (exp_minus_twice a c) by one_number ] end end
  end.
Lemma cos_at_zero x : x = 0 -> cos x = 1. Proof. intros ->; apply cos_0. Qed.
Lemma sin_at_zero x : x = 0 -> sin x = 0. Proof. intros ->; apply sin_0. Qed.
Lemma tanh_at_zero x : x = 0 -> tanh x = 0. Proof. intros ->; apply tanh_zero. Qed.
Lemma ln_at_one x : x = 1 -> ln x = 0. Proof. intros ->; apply ln_1. Qed.
Lemma sqrt_at_one x : x = 1 -> sqrt x = 1. Proof. intros ->; apply sqrt_1. Qed.
Lemma total_same n c : total n (fun _ => c) = number n * c.
Proof. unfold number; rewrite <- INR_IZR_INZ; induction n as [| n before]; [simpl; ring | rewrite S_INR; simpl; rewrite before; ring]. Qed.
Ltac functions_met := rewrite ?total_same; repeat match goal with
  | |- context [cos ?a] => rewrite (cos_at_zero a) by one_number
  | |- context [sin ?a] => rewrite (sin_at_zero a) by one_number
  | |- context [tanh ?a] => rewrite (tanh_at_zero a) by one_number
  | |- context [ln ?a] => rewrite (ln_at_one a) by one_number
  | |- context [sqrt ?a] => rewrite (sqrt_at_one a) by one_number
  end.
Ltac written_out :=
  unfold dot, matrix_vector, vector_matrix, product, transposed, identity, softmax_vector, softmax_rows, vector_of, matrix_of; cbn [total nth].
Ltac equal_numbers := first [reflexivity | ring | field; not_zeros | functions_met; exponentials_met; first [reflexivity | field; not_zeros]].
Ltac value := written_out; only_known; equal_numbers.
Ltac entries := written_out; only_known.
