// Moves and zooms the graph: by wheel, drag, two fingers, keys and buttons.

import type { Point } from "./arrange";

interface View {
  x: number;
  y: number;
  scale: number;
}

const LEAST = 0.1;
const MOST = 4;
/** The smallest scale at which letters of 12 pixels are readable. */
const READABLE = 0.8;

export class Camera {
  private view: View = { x: 0, y: 0, scale: 1 };
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private hasMoved = false;

  constructor(
    private readonly root: SVGSVGElement,
    private readonly layer: SVGGElement,
    private readonly moved: () => void,
  ) {
    root.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = this.within(event);
        this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
      },
      { passive: false },
    );
    root.addEventListener("pointerdown", (event) => {
      this.fingers.set(event.pointerId, this.within(event));
      this.hasMoved = false;
    });
    root.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) {
      root.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    }
    // The end of a drag is not a click on the element below it.
    root.addEventListener(
      "click",
      (event) => {
        if (this.hasMoved) event.stopPropagation();
        this.hasMoved = false;
      },
      { capture: true },
    );
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** The position and the scale of the view; setting an invalid value changes nothing. */
  get place(): number[] {
    const { x, y, scale } = this.view;
    return [Math.round(x), Math.round(y), Math.round(scale * 100) / 100];
  }

  set place(place: number[]) {
    const [x, y, scale] = place;
    if (place.length !== 3 || !place.every(Number.isFinite)) return;
    this.view = { x: x!, y: y!, scale: Math.min(Math.max(scale!, LEAST), MOST) };
    this.apply();
  }

  /** Shows the whole picture. */
  fit(width: number, height: number): void {
    const { clientWidth, clientHeight } = this.root;
    this.show(Math.min(clientWidth / width, clientHeight / height), width, height, [0, 0]);
  }

  /** Shows a readable part of the picture, around the box with the most other boxes near it. */
  begin(width: number, height: number, places: Point[]): void {
    const { clientWidth, clientHeight } = this.root;
    const scale = Math.max(Math.min(clientWidth / width, clientHeight / height), READABLE);
    const [reachX, reachY] = [clientWidth / scale / 2, clientHeight / scale / 2];
    const isNear = (one: Point, other: Point): boolean =>
      Math.abs(one.x - other.x) < reachX && Math.abs(one.y - other.y) < reachY;
    let [best, most] = [{ x: 0, y: 0 }, 0];
    for (const place of places) {
      const count = places.filter((other) => isNear(place, other)).length;
      if (count > most) [best, most] = [place, count];
    }
    this.show(scale, width, height, [best.x, best.y]);
  }

  private show(wanted: number, width: number, height: number, [x, y]: [number, number]): void {
    const { clientWidth, clientHeight } = this.root;
    if (width <= 0 || height <= 0 || clientWidth === 0) return;
    const scale = Math.min(Math.max(wanted, LEAST), 1.25);
    // A small picture is centred. In a larger picture, the point is centred, but nothing beyond the
    // picture's edge is shown.
    const place = (room: number, size: number, at: number): number =>
      size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, room / 2 - at));
    this.view.scale = scale;
    this.view.x = place(clientWidth, width * scale, x * scale);
    this.view.y = place(clientHeight, height * scale, y * scale);
    this.apply();
  }

  zoom(factor: number, x = this.root.clientWidth / 2, y = this.root.clientHeight / 2): void {
    const scale = Math.min(Math.max(this.view.scale * factor, LEAST), MOST);
    const part = scale / this.view.scale;
    this.view = { x: x - (x - this.view.x) * part, y: y - (y - this.view.y) * part, scale };
    this.apply();
    this.moved();
  }

  private within(event: MouseEvent): { x: number; y: number } {
    const box = this.root.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private drag(event: PointerEvent): void {
    const last = this.fingers.get(event.pointerId);
    if (last === undefined) return;
    const here = this.within(event);
    const isFar = Math.hypot(here.x - last.x, here.y - last.y) > 3;
    if (!isFar && !this.hasMoved) return;
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const now = Math.hypot(here.x - other.x, here.y - other.y);
      if (before > 0) this.zoom(now / before, (here.x + other.x) / 2, (here.y + other.y) / 2);
    } else {
      this.view.x += here.x - last.x;
      this.view.y += here.y - last.y;
      this.apply();
      this.moved();
    }
    this.hasMoved = true;
    this.fingers.set(event.pointerId, here);
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [60, 0],
      ArrowRight: [-60, 0],
      ArrowUp: [0, 60],
      ArrowDown: [0, -60],
    };
    const step = steps[event.key];
    if (step !== undefined) {
      this.view.x += step[0];
      this.view.y += step[1];
      this.apply();
      this.moved();
    } else if (event.key === "+") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else return;
    event.preventDefault();
  }

  private apply(): void {
    const { x, y, scale } = this.view;
    this.layer.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }
}
