import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const css = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** In the page itself, so that one answer is all that it takes. The policy names it by its hash, and allows no other. */
export const STYLE_ELEMENT = `<style>${css}</style>`;
export const STYLE_HASH = `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
