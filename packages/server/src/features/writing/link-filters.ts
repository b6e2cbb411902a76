import { isImage, isLink, UNSUBSCRIBE } from './addresses.ts';
import { plainValue } from './printed.ts';

/** An address, or a part of one, in which nothing is left that means anything in Markdown or HTML. */
export class Address {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** As it stands in Markdown and in HTML. */
  get written(): string {
    return this.#address.replaceAll('&', '&amp;');
  }
}

/** Letters, figures, dots, dashes, underscores and signs of percent: no other sign is left. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, percent);
}

/** `isEncoded`: whoever wrote the letter has seen to it already. */
export function linkPart(value: unknown, isEncoded: unknown): Address {
  const text = plainValue(value);
  if (isEncoded === true && /^[\w.%+-]*$/.test(text)) return new Address(text);
  return new Address(encoded(text).replaceAll('%40', '@'));
}

/** Null for what is no address of a page or a mailbox, or of an image. */
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
