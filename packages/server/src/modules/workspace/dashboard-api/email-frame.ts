import type { FastifyReply } from 'fastify';
import type { FrameQuery, Raw } from '@beckon/contract/dashboard';
import { inlineImages } from '../../../platform/outbound/inline-images.ts';
import { SENT } from './route.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';

/** For all images of an email. Other requests wait for theirs in that time. */
const IMAGES_WITHIN_MS = 20_000;

/**
 * Sends an email at an address of its own, as a page that can do nothing: no script, no form, nothing from elsewhere. The server fetches
 * its images only on request, and inlines them.
 */
export async function sendEmail(
  { openOutbound }: { openOutbound: () => Outbound },
  reply: FastifyReply,
  { html, scheme = 'light', images = 'hide' }: FrameQuery & { html: string },
): Promise<Raw> {
  const page = asOnScreen(html, scheme);
  if (images === 'hide') return send(reply, page);
  const outbound = openOutbound();
  const ended = new AbortController();
  function end(): void {
    ended.abort();
    outbound.close();
  }
  const timer = setTimeout(end, IMAGES_WITHIN_MS);
  reply.raw.once('close', end);
  try {
    return send(reply, await inlineImages(page, outbound, ended.signal));
  } finally {
    clearTimeout(timer);
    reply.raw.off('close', end);
    outbound.close();
  }
}

/** Renders it as a mail reader on a light or a dark screen would, whatever the screen of the viewer. */
function asOnScreen(html: string, scheme: 'light' | 'dark'): string {
  const adapted = html.replaceAll(/\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi, (_, which: string) =>
    which.toLowerCase() === scheme ? '(min-width:0px)' : '(max-width:0px)',
  );
  const style = `<style>:root{color-scheme:only ${scheme}}</style>`;
  const head = /<\/head\s*>/i.exec(adapted);
  return head ? `${adapted.slice(0, head.index)}${style}${adapted.slice(head.index)}` : `${style}${adapted}`;
}

function send(reply: FastifyReply, html: string): Raw {
  reply.hijack();
  reply.raw.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
  reply.raw.end(html);
  return SENT;
}
