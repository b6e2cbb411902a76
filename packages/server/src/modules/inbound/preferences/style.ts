import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const css = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** Inlined, so that the page is one response. The policy allows it by its hash, and no other style. */
export const STYLE_ELEMENT = `<style>${css}</style>`;
export const STYLE_HASH = `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
