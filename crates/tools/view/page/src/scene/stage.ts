// Camera, light, ground, and the loop that draws only while the view is visible, and only after
// changes.

import {
  AmbientLight,
  Color,
  ColorManagement,
  DirectionalLight,
  GridHelper,
  LinearSRGBColorSpace,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

// Colours are shown with the exact numbers that were sent.
ColorManagement.enabled = false;

const FRAME_MS = 33;
const START = [3.5, -5, 4.5, 0.5, 0, 0];

export class Stage {
  readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(50, 1, 0.05, 5000);
  private readonly renderer: WebGLRenderer;
  private readonly controls: OrbitControls;
  private grid: GridHelper | null = null;
  private isDirty = true;
  private frame = 0;
  private lastDraw = 0;

  /** Throws if the browser has no WebGL. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly beforeDraw: () => void,
    onMoved: () => void,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.listenToKeyEvents(canvas);
    this.controls.addEventListener("change", () => this.touch());
    this.controls.addEventListener("end", onMoved);
    const sun = new DirectionalLight(0xffffff, 1.8);
    sun.position.set(3, -2, 8);
    this.scene.add(new AmbientLight(0xffffff, 1.4), sun);
    this.view = START;
    this.retheme();
  }

  /** The positions of the camera and of its target: six numbers. */
  get view(): number[] {
    const numbers = [...this.camera.position.toArray(), ...this.controls.target.toArray()];
    return numbers.map((each) => Math.round(each * 100) / 100);
  }

  set view(view: number[]) {
    const [x, y, z, ...target] = view.length === 6 && view.every(Number.isFinite) ? view : START;
    this.camera.position.set(x!, y!, z!);
    this.controls.target.copy(new Vector3(...target));
    this.controls.update();
    this.touch();
  }

  reset(): void {
    this.view = START;
  }

  touch(): void {
    this.isDirty = true;
  }

  /** The colours of text and of its background. */
  get textColours(): [string, string] {
    const style = getComputedStyle(document.documentElement);
    return [style.getPropertyValue("--text").trim(), style.getPropertyValue("--well").trim()];
  }

  /** Returns a point's position on the canvas, in pixels; `null` if it is behind the camera. */
  placeOf(point: Vector3): { x: number; y: number } | null {
    this.camera.updateMatrixWorld();
    const { x, y, z } = point.clone().project(this.camera);
    const { clientWidth, clientHeight } = this.canvas;
    if (z > 1) return null;
    return { x: ((x + 1) / 2) * clientWidth, y: ((1 - y) / 2) * clientHeight };
  }

  /** Returns the point that the view shows `pixels` above another one, at the same depth. */
  raised(point: Vector3, pixels: number): Vector3 {
    const shown = point.clone().project(this.camera);
    shown.y += (2 * pixels) / Math.max(1, this.canvas.clientHeight);
    return shown.unproject(this.camera);
  }

  /** The height of the view at a distance of 1, in pixels: the unit of labels. */
  get unitPixels(): number {
    return (this.camera.projectionMatrix.elements[5]! * this.canvas.clientHeight) / 2;
  }

  retheme(): void {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): Color => new Color(style.getPropertyValue(name).trim());
    this.scene.background = colour("--well");
    this.grid?.dispose();
    this.grid?.removeFromParent();
    this.grid = new GridHelper(20, 20, colour("--dim"), colour("--line"));
    this.grid.rotation.x = Math.PI / 2;
    this.scene.add(this.grid);
    this.touch();
  }

  resize(width: number, height: number): void {
    if (width < 2 || height < 2) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  start(): () => void {
    const turn = (now: number): void => {
      this.frame = requestAnimationFrame(turn);
      if (!this.isDirty || now - this.lastDraw < FRAME_MS) return;
      this.isDirty = false;
      this.lastDraw = now;
      this.beforeDraw();
      this.renderer.render(this.scene, this.camera);
    };
    this.frame = requestAnimationFrame(turn);
    return () => cancelAnimationFrame(this.frame);
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}
