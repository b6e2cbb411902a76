import { randomFillSync } from 'node:crypto';
import type { Clock } from './time/clock.ts';

export type NewId = () => string;

const POOL_BYTES = 4096;
const RANDOM_BYTES = 10;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Creates a generator of uuid v7: the first 48 bits are the time, so that ids created together are adjacent in an index. */
export function idMaker(clock: Clock): NewId {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  // Cached, because thousands of ids share a millisecond and formatting a number as hex is slow.
  let timeMs = -1;
  let time = '';
  return function newId() {
    if (used + RANDOM_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const at = used;
    used += RANDOM_BYTES;
    const now = clock.now();
    if (now !== timeMs) {
      timeMs = now;
      time = now.toString(16).padStart(12, '0');
    }
    const byte = (offset: number): string => HEX[pool[at + offset] ?? 0] ?? '00';
    const version = HEX[0x70 | ((pool[at] ?? 0) & 0x0f)] ?? '70';
    const variant = HEX[0x80 | ((pool[at + 2] ?? 0) & 0x3f)] ?? '80';
    return (
      `${time.slice(0, 8)}-${time.slice(8)}-${version}${byte(1)}-${variant}${byte(3)}-` +
      `${byte(4)}${byte(5)}${byte(6)}${byte(7)}${byte(8)}${byte(9)}`
    );
  };
}

/** Returns an id that sorts before every id created at this moment or later. */
export function smallestIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
