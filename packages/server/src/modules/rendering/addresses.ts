const LINK = /^(?:https?:\/\/[^/?#]|mailto:[^?])/i;
/** Characters that a browser removes from a URL, or that end one in a mail client. */
const UNFIT = /[\s\p{Cc}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF"<>\\]/u;

export const ADDRESS_MAX_CHARS = 2_000;

/** Returns whether an email may link to this URL: a page or an email address. Scripts, files and relative URLs are not allowed. */
export function isLink(address: string): boolean {
  return LINK.test(address) && !UNFIT.test(address) && address.length <= ADDRESS_MAX_CHARS;
}

/** Returns whether this is an image URL. Images are fetched automatically, so they must not be readable or changeable in transit. */
export function isImage(address: string): boolean {
  return /^https:/i.test(address) && isLink(address);
}

/** Style contents that run code or fetch from other places than https. */
export const BAD_STYLE = /expression\s*\(|javascript:|@import|url\(\s*(?!['"]?https:)/i;

/** The placeholder for the unsubscribe link in a page with its own layout. The recipient's own link replaces it. */
export const UNSUBSCRIBE = 'https://unsubscribe.invalid/';
