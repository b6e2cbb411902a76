import {
  defaultTreeAdapter,
  type DefaultTreeAdapterTypes,
  html as names,
  parse,
  type TreeAdapter,
  type DefaultTreeAdapterMap,
} from 'parse5';

/** The HTML of an email as a list of its elements, each following its parent. */
export type EmailHtml = {
  elements: PageElement[];
  /** The contents of its style elements, joined. */
  css: string;
  /** The text for readers, hidden or not, with single spaces. */
  text: string;
  /** True if the page exceeds a limit of length, depth or complexity, so that it was not read completely. */
  isCut: boolean;
};

export type PageElement = {
  tag: string;
  attributes: Map<string, string>;
  classes: string[];
  parent: PageElement | null;
  /** Its own text, without that of nested elements. */
  text: string;
  /** For a link: its text and the alternative texts of its images. */
  label: string;
};

/** An email above 100 KB is refused anyway. Anything after this length is not read. */
const PAGE_MAX_CHARS = 128 * 1024;
const ELEMENTS_MAX = 10_000;
const CLASSES_MAX = 20;
const CLASSES_MAX_CHARS = 1_000;
const DEPTH_MAX = 250;
const LABEL_MAX_CHARS = 300;
/** Their text is not for readers. */
const SILENT = new Set(['style', 'script', 'title', 'template', 'noscript', 'head']);

/** Reads a page and never throws. The parsed tree can be far larger than the HTML, so parsing stops at a limit. */
export function readPage(html: string): EmailHtml {
  const read = html.slice(0, PAGE_MAX_CHARS);
  try {
    const document = parse(read, { treeAdapter: boundedAdapter(), scriptingEnabled: false });
    return { ...listElements(document), isCut: html.length > read.length };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return { elements: [], css: '', text: '', isCut: true };
  }
}

/** Returns an attribute, or an empty string if it is missing. */
export function attribute(element: PageElement, name: string): string {
  return element.attributes.get(name) ?? '';
}

class TooMuch extends Error {}

/** Limits the tree. A parser reopens unclosed tags in each paragraph, so a small page can become a huge tree. */
function boundedAdapter(): TreeAdapter<DefaultTreeAdapterMap> {
  let [elements, depth] = [0, 0];
  return {
    ...defaultTreeAdapter,
    createElement(tagName, namespace, attrs) {
      elements += 1;
      if (elements > ELEMENTS_MAX) throw new TooMuch();
      return defaultTreeAdapter.createElement(tagName, namespace, attrs);
    },
    onItemPush() {
      depth += 1;
      if (depth > DEPTH_MAX) throw new TooMuch();
    },
    onItemPop() {
      depth -= 1;
    },
  };
}

type Node = DefaultTreeAdapterTypes.Node;
type NodeContext = { node: Node; parent: PageElement | null; link: PageElement | null; isSilent: boolean };
type Found = { elements: PageElement[]; css: string[]; words: string[] };

function listElements(document: Node): Omit<EmailHtml, 'isCut'> {
  const found: Found = { elements: [], css: [], words: [] };
  const stack: NodeContext[] = [{ node: document, parent: null, link: null, isSilent: false }];
  for (let context = stack.pop(); context; context = stack.pop()) {
    const { node } = context;
    if (defaultTreeAdapter.isTextNode(node)) {
      noteText(node.value, context, found);
      continue;
    }
    const within = enter(node, context, found);
    const children = 'childNodes' in node ? node.childNodes : [];
    for (const child of children.toReversed()) stack.push({ node: child, ...within });
  }
  const text = found.words.join(' ').replaceAll(/\s+/g, ' ').trim();
  return { elements: found.elements, css: found.css.join('\n'), text };
}

function noteText(value: string, { parent, link, isSilent }: NodeContext, found: Found): void {
  if (parent?.tag === 'style') found.css.push(value);
  if (isSilent || value.trim() === '') return;
  found.words.push(value);
  if (parent) parent.text += ` ${value.trim()}`;
  if (link) name(link, value);
}

/** Returns the context for the children of this node. */
function enter(node: Node, { parent, link, isSilent }: NodeContext, found: Found): Omit<NodeContext, 'node'> {
  const element = toElement(node, parent);
  if (!element) return { parent, link, isSilent };
  found.elements.push(element);
  if (element.tag === 'img' && link) name(link, attribute(element, 'alt'));
  return {
    parent: element,
    link: element.tag === 'a' ? element : link,
    isSilent: isSilent || SILENT.has(element.tag),
  };
}

function name(link: PageElement, words: string): void {
  if (link.label.length < LABEL_MAX_CHARS) link.label = `${link.label} ${words.trim()}`.trim();
}

function toElement(node: Node, parent: PageElement | null): PageElement | null {
  if (!defaultTreeAdapter.isElementNode(node)) return null;
  const attributes = new Map(node.attrs.map((attr) => [attr.name, attr.value]));
  // Links and styles within an SVG do not belong to the email.
  const tag = node.namespaceURI === names.NS.HTML || node.tagName === 'svg' ? node.tagName : 'svg-part';
  return { tag, attributes, classes: toClasses(attributes.get('class') ?? ''), parent, text: '', label: '' };
}

function toClasses(text: string): string[] {
  const names = text.slice(0, CLASSES_MAX_CHARS).trim().split(/\s+/);
  return names.filter((className) => className !== '').slice(0, CLASSES_MAX);
}
