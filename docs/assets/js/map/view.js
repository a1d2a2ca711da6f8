// Which part of the map is seen: moved by dragging, by two fingers and by arrow keys, enlarged by the wheel, two fingers, "+" and "−".

const NEAREST = 160; // units across, at most enlarged
const PHONE = 600; // pixels; below, one column of regions is shown at first
const COLUMN = 330; // units
const MARGIN = 14;
const EDGE = 40; // pixels that a chosen claim keeps from what is not seen
const CLOSE = 0.6; // units to a pixel for a choice, at least
const FAR = 1.9; // and at most
const SAID = 1500; // milliseconds for which a finger that moves the page is told how to move the map

/** Take over a picture in its stage. `stage` says how large it is seen, `covering()` what lies over it. */
export function view(svg, stage, covering) {
  const whole = svg.viewBox.baseVal;
  const size = { width: whole.width, height: whole.height };
  const seen = { x: 0, y: 0, width: size.width };
  let before = null; // what was seen before a choice or a search moved the map
  const sized = svg.querySelectorAll(".map__grounds, .map__names, .map__marks"); // not all: what has a size of its own would be styled anew for nothing
  const unit = () => seen.width / (stage.clientWidth || 1); // units to a pixel
  const clamped = (value, least, most) => Math.min(Math.max(value, least), Math.max(least, most));

  /** The larger part of the stage beside what lies over it, or above or below where that takes the whole width, in pixels. */
  function room() {
    const [width, height] = [stage.clientWidth || 1, stage.clientHeight || 1];
    const [box, over] = [stage.getBoundingClientRect(), covering().getBoundingClientRect()];
    const [left, right] = [over.left, over.right].map((at) => clamped(at - box.left, 0, width));
    const [top, bottom] = [over.top, over.bottom].map((at) => clamped(at - box.top, 0, height));
    const part = (x, y, wide, tall) => ({ x, y, width: wide, height: tall });
    const beside = width - right > left ? part(right, 0, width - right, height) : part(0, 0, left, height);
    if (beside.width) return beside;
    return height - bottom > top ? part(0, bottom, width, height - bottom) : part(0, 0, width, top);
  }

  /** How many units across show all in a room. */
  function furthest({ width, height } = room()) {
    return stage.clientWidth * Math.max((size.width + 2 * MARGIN) / width, (size.height + 2 * MARGIN) / height);
  }

  function draw() {
    const free = room();
    seen.width = clamped(seen.width, NEAREST, furthest(free));
    // No further than the edges of the map; of what is left over where all of it is seen, `share` stands before it.
    const within = (start, before, pixels, all, share) => {
      const [aside, over] = [before * unit(), pixels * unit() - all - 2 * MARGIN];
      return (over > 0 ? -over * share - MARGIN : clamped(start + aside, -MARGIN, -over - MARGIN)) - aside;
    };
    seen.x = within(seen.x, free.x, free.width, size.width, 0.5);
    seen.y = within(seen.y, free.y, free.height, size.height, 0);
    svg.setAttribute("viewBox", `${seen.x} ${seen.y} ${seen.width} ${stage.clientHeight * unit()}`);
    for (const names of sized) names.style.setProperty("--unit", unit()); // they keep a size that can be read
  }

  /** Where a point of the window lies on the map. */
  function at({ clientX, clientY }) {
    const box = stage.getBoundingClientRect();
    return { x: seen.x + (clientX - box.left) * unit(), y: seen.y + (clientY - box.top) * unit() };
  }

  function home() {
    const { x, y } = room();
    before = null;
    seen.width = stage.clientWidth < PHONE ? COLUMN : furthest();
    seen.x = -MARGIN / 2 - x * unit();
    seen.y = -MARGIN / 2 - y * unit();
    draw();
  }

  /** Keep what is seen for `back`, until the reader moves the map. */
  function keep() {
    before ??= { ...seen };
  }

  function back() {
    put(before);
    before = null;
  }

  function put(place) {
    Object.assign(seen, place);
    draw();
  }

  /** Move what is seen, in pixels. */
  function move(right, down) {
    before = null;
    seen.x += right * unit();
    seen.y += down * unit();
    draw();
  }

  /** Enlarge around a point of the map, or around the middle; true if that changed anything. */
  function zoom(factor, fixed = middle()) {
    const wide = seen.width;
    before = null;
    seen.width = clamped(seen.width / factor, NEAREST, furthest());
    seen.x = fixed.x - ((fixed.x - seen.x) * seen.width) / wide;
    seen.y = fixed.y - ((fixed.y - seen.y) * seen.width) / wide;
    draw();
    return seen.width !== wide;
  }

  function middle() {
    return { x: seen.x + seen.width / 2, y: seen.y + (stage.clientHeight * unit()) / 2 };
  }

  /** Have a point lie in what is seen. */
  function show(point) {
    const { left, right, above, below } = around(point);
    if (Math.min(left, right) < EDGE) seen.x += ((left - right) / 2) * unit();
    if (Math.min(above, below) < EDGE) seen.y += ((above - below) / 2) * unit();
    draw();
  }

  /** How many pixels of room there are on each side of a point. */
  function around({ x, y }) {
    const free = room();
    const left = (x - seen.x) / unit() - free.x;
    const above = (y - seen.y) / unit() - free.y;
    return { left, right: free.width - left, above, below: free.height - above };
  }

  /** Show one claim and others as large as they fit; where they do not, the one and what lies towards them. */
  function fit(one, others) {
    const free = room();
    const least = (name) => Math.min(...[one, ...others].map((each) => each[name]));
    const most = (name) => Math.max(...[one, ...others].map((each) => each[name]));
    const scale = (name, pixels) => (most(name) - least(name)) / Math.max(pixels - 2 * EDGE, 1);
    const to = clamped(Math.max(scale("x", free.width), scale("y", free.height)), CLOSE, FAR);
    const start = (name, before, pixels) => {
      const half = Math.max(pixels / 2 - EDGE, 0) * to;
      const middle = clamped((least(name) + most(name)) / 2, one[name] - half, one[name] + half);
      return middle - (before + pixels / 2) * to;
    };
    Object.assign(seen, { x: start("x", free.x, free.width), y: start("y", free.y, free.height), width: to * stage.clientWidth });
    draw();
  }

  const place = () => ({ ...seen });
  followPointers(stage, { at, move, place, put, zoom });
  new ResizeObserver(draw).observe(stage);
  home();
  return { around, at, back, fit, home, keep, move, show, unit, zoom };
}

/** One pointer drags, two drag and pinch, the wheel zooms once the map has the focus: until then it scrolls the page, as does one finger that
    moves up or down. */
function followPointers(stage, { at, move, place, put, zoom }) {
  const down = new Map();
  let dragged = 0; // pixels since the pointer went down
  let start = null; // what was seen then

  stage.addEventListener("pointerdown", (event) => {
    if (!down.size) [dragged, start] = [0, place()];
    down.set(event.pointerId, event);
  });
  stage.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const apart = spread(down);
    down.set(event.pointerId, event);
    dragged += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (dragged > 4) stage.setPointerCapture(event.pointerId);
    if (down.size === 2) zoom(spread(down) / apart, at(centre(down)));
    move((before.clientX - event.clientX) / down.size, (before.clientY - event.clientY) / down.size);
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => down.delete(event.pointerId));
  // The browser has taken the finger for the page.
  stage.addEventListener("pointercancel", () => {
    put(start);
    stage.classList.add("is-passed");
    setTimeout(() => stage.classList.remove("is-passed"), SAID);
  });
  // Two fingers are for the map.
  for (const touch of ["touchstart", "touchmove"]) {
    stage.addEventListener(touch, (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), { passive: false });
  }
  // The end of a drag chooses nothing.
  stage.addEventListener("click", (event) => dragged > 4 && event.stopImmediatePropagation(), true);
  stage.addEventListener("dragstart", (event) => event.preventDefault());
  stage.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !stage.contains(document.activeElement)) return;
      if (zoom(Math.exp(-event.deltaY / 400), at(event)) || event.ctrlKey) event.preventDefault();
    },
    { passive: false },
  );
}

function spread(pointers) {
  const [one, other] = [...pointers.values()];
  return other ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : 1;
}

function centre(pointers) {
  const [one, other] = [...pointers.values()];
  return { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 };
}
