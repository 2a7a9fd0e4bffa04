// The sound of a move, off by default.

import { kept } from "./dom.js";

const KEPT = "boardenvs-sound";

export const sound = {
  on: kept.get(KEPT) === "yes",

  turn(on) {
    this.on = on;
    kept.set(KEPT, on ? "yes" : "no");
    this.play();
  },

  play() {
    if (!this.on) return;
    this.context ??= new AudioContext();
    const { context } = this, now = context.currentTime;
    const tone = context.createOscillator(), volume = context.createGain();
    tone.frequency.setValueAtTime(330, now);
    tone.frequency.exponentialRampToValueAtTime(110, now + 0.06);
    volume.gain.setValueAtTime(0.25, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + 0.09);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.1);
  },
};
