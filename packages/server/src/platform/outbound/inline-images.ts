import type { Outbound } from './outbound.ts';

const IMAGES_MAX = 20;
const IMAGE_MAX_BYTES = 2 * 1024 * 1024;
/** As encoded in the page. */
const ALL_MAX_BYTES = 6 * 1024 * 1024;
const AT_ONCE = 4;
/** Formats that only draw. Images that are documents, such as SVG, are left out. */
const TYPE = /^image\/(?:png|jpeg|gif|webp)\b/i;
/** Matches no further than the next tag, so that a page of unfinished tags takes linear time. */
const SOURCE = /(<img\b[^<>]*?\ssrc\s*=\s*)("https:[^"]*"|'https:[^']*')/gi;

/** Counts the remote images of an email. */
export function countRemoteImages(html: string): number {
  return new Set([...html.matchAll(SOURCE)].map((match) => match[2])).size;
}

/**
 * Inlines the images of an email. This server fetches them through the guarded outbound client, so that the image hosts do not see the
 * reader. Images that are too slow or too large are left out. After `signal` is aborted, no more are fetched.
 */
export async function inlineImages(html: string, outbound: Outbound, signal?: AbortSignal): Promise<string> {
  const urls = [...new Set([...html.matchAll(SOURCE)].map((match) => urlOf(match[2] ?? '')))].slice(
    0,
    IMAGES_MAX,
  );
  const fetched = new Map<string, string>();
  let bytes = 0;
  for (let at = 0; at < urls.length && bytes < ALL_MAX_BYTES && !signal?.aborted; at += AT_ONCE) {
    const batch = urls.slice(at, at + AT_ONCE);
    const images = await Promise.all(batch.map((url) => fetchImage(outbound, url)));
    for (const [i, image] of images.entries()) {
      if (image === null || bytes + image.length > ALL_MAX_BYTES) continue;
      bytes += image.length;
      fetched.set(batch[i] ?? '', image);
    }
  }
  // Each image has space once; repetitions share the rest.
  const first = new Set(fetched.keys());
  let remaining = ALL_MAX_BYTES - bytes;
  return html.replaceAll(SOURCE, (whole: string, before: string, quoted: string) => {
    const url = urlOf(quoted);
    const image = fetched.get(url);
    if (image === undefined) return whole;
    if (!first.delete(url)) {
      if (image.length > remaining) return whole;
      remaining -= image.length;
    }
    return `${before}"${image}"`;
  });
}

function urlOf(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('&amp;', '&');
}

async function fetchImage(outbound: Outbound, url: string): Promise<string | null> {
  const headers = { accept: 'image/png, image/jpeg, image/gif, image/webp' };
  const response = await outbound.get({ url, headers, key: 'email images', fileMaxBytes: IMAGE_MAX_BYTES });
  if (!response.ok || response.status !== 200 || response.file === null) return null;
  const type = TYPE.exec(response.file.type)?.[0];
  return type ? `data:${type.toLowerCase()};base64,${response.file.bytes.toString('base64')}` : null;
}
