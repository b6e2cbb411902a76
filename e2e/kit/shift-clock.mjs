import { readFileSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Shifts the clock of Beckon's programs by `SHIFT_CLOCK_MS` milliseconds. Load it with `NODE_OPTIONS=--import`.
 *
 * `platform/db/database.ts` keeps the real clock: it measures how far the machine's clock is from that of PostgreSQL, and would take the
 * shift out again. npm loads this file too, with a Node.js that may be older and lack these hooks.
 */
const CLOCK = '/packages/server/src/platform/time/clock.ts';
const REAL = '/packages/server/src/platform/db/database.ts';
const SHIFTED = '?shifted';

module.registerHooks?.({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isShifted = found.url.endsWith(CLOCK) && !context.parentURL?.endsWith(REAL);
    return isShifted ? { ...found, url: found.url + SHIFTED } : found;
  },
  load(url, context, next) {
    if (!url.endsWith(CLOCK + SHIFTED)) return next(url, context);
    const shiftMs = Number(process.env.SHIFT_CLOCK_MS);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    return { ...next(url, context), source: text.replace('Date.now()', `Date.now() + ${shiftMs}`) };
  },
});
