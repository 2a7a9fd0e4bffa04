// HMAC-SHA256 of texts, in hexadecimal. Browsers offer it only on encrypted pages and on localhost.

const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
const fraction = (number) => Math.floor((number % 1) * 2 ** 32) | 0; // its first 32 bits
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = primes.map((prime) => fraction(Math.cbrt(prime)));
const turn = (word, bits) => (word >>> bits) | (word << (32 - bits));

function sha256(bytes) {
  const padded = new Uint8Array((Math.floor((bytes.length + 8) / 64) + 1) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer), words = new Int32Array(64);
  view.setUint32(padded.length - 4, 8 * bytes.length);
  const hash = [...START];
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) words[i] = view.getInt32(at + 4 * i);
      else {
        const early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + words[i - 7] + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => { hash[i] = (hash[i] + word) | 0; });
  }
  const found = new DataView(new ArrayBuffer(32));
  hash.forEach((word, i) => found.setInt32(4 * i, word));
  return new Uint8Array(found.buffer);
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// The key has at most 64 characters.
export function hmac(key, text) {
  const block = new Uint8Array(64), encoder = new TextEncoder();
  block.set(encoder.encode(key));
  const inner = sha256([...block.map((byte) => byte ^ 0x36), ...encoder.encode(text)]);
  return hex(sha256([...block.map((byte) => byte ^ 0x5c), ...inner]));
}

export const nonce = () => hex(crypto.getRandomValues(new Uint8Array(16)));
