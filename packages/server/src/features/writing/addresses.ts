const LINK = /^(?:https?:\/\/[^/?#]|mailto:[^?])/i;
/** What a browser leaves out of an address, and what ends one in a mail client. */
const UNFIT = /[\s\p{Cc}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF"<>\\]/u;

export const ADDRESS_MAX_CHARS = 2_000;

/** What a letter may lead to: pages, and an address to write to. No script, no file, nothing that is relative to nowhere. */
export function isLink(address: string): boolean {
  return LINK.test(address) && !UNFIT.test(address) && address.length <= ADDRESS_MAX_CHARS;
}

/** An image is fetched by itself, so nobody on its way may see or change it. */
export function isImage(address: string): boolean {
  return /^https:/i.test(address) && isLink(address);
}

/** In a style: what runs, or is fetched from where it should not be. */
export const BAD_STYLE = /expression\s*\(|javascript:|@import|url\(\s*(?!['"]?https:)/i;

/** Where a page of its own leads to when somebody wants no more: the address of the person's own stands there in the end. */
export const UNSUBSCRIBE = 'https://unsubscribe.invalid/';
