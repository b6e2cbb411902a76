import { isImage, isLink, UNSUBSCRIBE } from './addresses.ts';
import { plainValue } from './print-values.ts';

/** A URL, or a part of one, without any characters that are special in Markdown or HTML. */
export class Address {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** The form for both Markdown and HTML. */
  get written(): string {
    return this.#address.replaceAll('&', '&amp;');
  }
}

/** Encodes text. Only letters, digits, dots, hyphens, underscores and percent signs remain. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, percent);
}

/** `isEncoded`: the author of the email has encoded it already. */
export function linkPart(value: unknown, isEncoded: unknown): Address {
  const text = plainValue(value);
  if (isEncoded === true && /^[\w.%+-]*$/.test(text)) return new Address(text);
  return new Address(encoded(text).replaceAll('%40', '@'));
}

/** Returns null if the value is not the URL of a page, a mailbox or an image. */
export function linkWhole(value: unknown, use: unknown): Address | null {
  const text = plainValue(value);
  if (!URL.canParse(text)) return null;
  const address = new URL(text).href.replace(/[!'()*~[\]|`\\]/g, percent);
  const isFit = use === 'src' ? isImage(address) : isLink(address);
  return isFit && address !== UNSUBSCRIBE ? new Address(address) : null;
}

function percent(sign: string): string {
  return `%${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
}
