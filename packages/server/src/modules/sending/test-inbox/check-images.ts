import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import { attribute, type Page, type PageElement } from './page.ts';

const WORDS_MIN_CHARS = 100;
const CHARS_FOR_EACH = 60;

/** Half of all clients block images at first, so this checks whether the email works without them. */
export function checkImages({ page }: CheckedLetter): Check {
  const images = page.elements.filter(({ tag }) => tag === 'img').filter((image) => !isPixel(image));
  const sources = (test: (source: string) => boolean): string[] => [
    ...new Set(images.map((image) => attribute(image, 'src').trim()).filter(test)),
  ];
  const findings: Finding[] = [
    ...findingsOf(
      'warning',
      'An image has no alt text. Describe it, or use alt="" for a decoration.',
      images.filter(({ attributes }) => !attributes.has('alt')).map((image) => attribute(image, 'src')),
    ),
    ...findingsOf(
      'warning',
      'An image is loaded without encryption, so many clients do not show it. Use https.',
      sources((source) => /^http:/i.test(source)),
    ),
    ...findingsOf(
      'warning',
      'An image is embedded in the email, and Gmail does not show embedded images. Host it and link to its address.',
      sources((source) => /^data:/i.test(source)),
    ),
    ...findingsOf(
      'error',
      'An image has no absolute URL. Start it with https://.',
      sources((source) => !/^(?:https?:|data:|cid:)/i.test(source)),
    ),
    ...mostlyImages(page, images.length),
  ];
  return judged(
    'images',
    findings,
    images.length === 0 ? 'The email has no images.' : 'All images have alt text and valid URLs.',
  );
}

/** Text that exists only in images is distrusted by filters and invisible to readers without images. */
function mostlyImages(page: Page, count: number): Finding[] {
  const chars = page.text.length;
  if (count === 0 || (chars >= WORDS_MIN_CHARS && chars >= count * CHARS_FOR_EACH)) return [];
  const message = `The email is mostly images (${count}, with ${chars} characters of text). Describe its content in text.`;
  return [{ status: 'warning', message }];
}

function isPixel(image: PageElement): boolean {
  const tiny = /^[01](?:px)?$/;
  return tiny.test(attribute(image, 'width').trim()) && tiny.test(attribute(image, 'height').trim());
}
