// Which part of the map is seen: moved by dragging and by arrow keys, enlarged by the wheel, two fingers, "+" and "−".

const NEAREST = 160; // units across, at most enlarged
const PHONE = 600; // pixels; below, one column of regions is shown at first
const COLUMN = 330; // units
const MARGIN = 14;

/** Take over a picture in its stage. `stage` says how large it is seen. */
export function view(svg, stage) {
  const whole = svg.viewBox.baseVal;
  const size = { width: whole.width, height: whole.height };
  const seen = { x: 0, y: 0, width: size.width };
  const unit = () => seen.width / (stage.clientWidth || 1); // units to a pixel
  const furthest = () => Math.max(size.width + 2 * MARGIN, ((size.height + 2 * MARGIN) * stage.clientWidth) / (stage.clientHeight || 1));
  const clamped = (value, least, most) => Math.min(Math.max(value, least), Math.max(least, most));

  function draw() {
    seen.width = clamped(seen.width, NEAREST, furthest());
    const height = stage.clientHeight * unit();
    const within = (start, length, all) =>
      length >= all + 2 * MARGIN ? (all - length) / 2 : clamped(start, -length / 2, all - length / 2);
    seen.x = within(seen.x, seen.width, size.width);
    seen.y = within(seen.y, height, size.height);
    svg.setAttribute("viewBox", `${seen.x} ${seen.y} ${seen.width} ${height}`);
    svg.style.setProperty("--unit", unit()); // names keep a size that can be read
  }

  /** Where a point of the window lies on the map. */
  function at({ clientX, clientY }) {
    const box = stage.getBoundingClientRect();
    return { x: seen.x + (clientX - box.left) * unit(), y: seen.y + (clientY - box.top) * unit() };
  }

  function home() {
    seen.width = stage.clientWidth < PHONE ? COLUMN : furthest();
    seen.x = seen.y = -MARGIN / 2;
    draw();
  }

  /** Move what is seen, in pixels. */
  function move(right, down) {
    seen.x += right * unit();
    seen.y += down * unit();
    draw();
  }

  /** Enlarge around a point of the map, or around the middle; true if that changed anything. */
  function zoom(factor, fixed = middle()) {
    const before = seen.width;
    seen.width = clamped(seen.width / factor, NEAREST, furthest());
    seen.x = fixed.x - ((fixed.x - seen.x) * seen.width) / before;
    seen.y = fixed.y - ((fixed.y - seen.y) * seen.width) / before;
    draw();
    return seen.width !== before;
  }

  function middle() {
    return { x: seen.x + seen.width / 2, y: seen.y + (stage.clientHeight * unit()) / 2 };
  }

  /** Have a point lie in what is seen, left of what covers the right of the stage (in pixels). */
  function show(point, covered) {
    const edge = 30 * unit();
    const wide = seen.width - covered * unit();
    const tall = stage.clientHeight * unit();
    if (point.x < seen.x + edge || point.x > seen.x + wide - edge) seen.x = point.x - wide / 2;
    if (point.y < seen.y + edge || point.y > seen.y + tall - edge) seen.y = point.y - tall / 2;
    draw();
  }

  followPointers(stage, { at, move, zoom });
  new ResizeObserver(draw).observe(stage);
  home();
  return { at, home, move, zoom, show, unit };
}

/** One pointer drags, two pinch, the wheel zooms once the map has the focus: until then it scrolls the page. */
function followPointers(stage, { at, move, zoom }) {
  const down = new Map();
  let dragged = 0; // pixels since the pointer went down

  stage.addEventListener("pointerdown", (event) => {
    if (!down.size) dragged = 0;
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
    else move(before.clientX - event.clientX, before.clientY - event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => down.delete(event.pointerId));
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
