import { JSON_MAX_KEY_CHARS } from '@beckon/contract';
import { Context, Drop, type Liquid, type Scope } from 'liquidjs';
import { namedLocale } from '../../platform/text/locale.ts';
import type { EmailPart } from './template.ts';
import { formatsOf, type LocaleFormats } from './locale-formats.ts';
import { isBlank, oneLine } from './print-values.ts';
import { CHARS_PER_UNIT, costOf, RenderWork } from './render-work.ts';
import { type EmailVariables, LOCALE_FACT, valueOf, ZONE_FACT } from './variables.ts';

const FACTS_MAX = 255;
const MISSING_MAX = 50;
/** A longer name is cut before any other processing. */
const NAME_MAX_CHARS = 200;
/** In units of work. Creating all formatters of a locale takes about 2 ms. */
const NAMED_LOCALE_COST = 4_000;

/** Findings of rendering the parts of one email. */
export class Findings {
  /** The values that were read from the user, the event and the run. */
  readonly facts: Record<string, unknown> = {};
  readonly missing = new Set<string>();
  /** One budget for all parts. */
  readonly work = new RenderWork();
  failed: EmailPart | null = null;
  readonly #variables: EmailVariables;
  readonly #namedLocales = new Set<string>();
  #facts = 0;

  constructor(variables: EmailVariables) {
    this.#variables = variables;
  }

  noteFact(name: string, value: unknown): void {
    if (Object.hasOwn(this.facts, name) || this.#facts >= FACTS_MAX) return;
    this.#facts += 1;
    this.facts[name] = value;
  }

  /** Work in addition to the email's own. It is separate, so that the state of the caches does not decide if the email may be rendered. */
  parsed = 0;

  noteParsed(units: number): void {
    this.parsed += units;
  }

  noteMissing(name: string): void {
    if (this.missing.size < MISSING_MAX) this.missing.add(oneLine(name.slice(0, NAME_MAX_CHARS)));
  }

  /** Noted as a fact, because another zone may be on another day. */
  readonly zone = (): string => {
    this.noteFact(ZONE_FACT, this.#variables.zone);
    return this.#variables.zone;
  };

  /** Returns the formatters of the locale that a filter names, or else the recipient's. Each named locale is charged once. */
  formats(named: unknown): LocaleFormats {
    const locale = namedLocale(named);
    if (locale === null) {
      this.noteFact(LOCALE_FACT, this.#variables.locale);
      return formatsOf(this.#variables.locale, () => this.noteParsed(NAMED_LOCALE_COST));
    }
    if (!this.#namedLocales.has(locale)) {
      this.#namedLocales.add(locale);
      this.work.charge(NAMED_LOCALE_COST);
    }
    return formatsOf(locale);
  }

  /** Returns the root of all names. It has no prototype: `constructor` is not a variable. */
  roots(): Record<string, unknown> {
    const { person, event, project, run } = this.#variables;
    return Object.assign(Object.create(null) as Record<string, unknown>, {
      user: new Source('user', person, this),
      event: new Source('event', event, this),
      project: new Source('project', project, null),
      run: new Source('run', run, this),
    });
  }
}

/** Values that can only be read by name, so that each read is noted. A template cannot list, count or print them whole. */
class Source {
  readonly #name: string;
  readonly #values: Record<string, unknown>;
  readonly #findings: Findings | null;

  constructor(name: string, values: Record<string, unknown>, findings: Findings | null) {
    this.#name = name;
    this.#values = values;
    this.#findings = findings;
  }

  /** Returns the value as it is stored. */
  read(key: unknown): unknown {
    if (typeof key !== 'string' && typeof key !== 'number') return undefined;
    const value = valueOf(this.#values, String(key));
    this.#findings?.noteFact(oneLine(`${this.#name}.${key}`), value);
    return value;
  }

  toString(): string {
    return '';
  }
}

/** Returns a value as a template sees it. Blank text counts as missing, because `Hi ,` helps no one. An object can only be read by name. */
function enclosed(value: unknown): unknown {
  if (value === null || (typeof value === 'string' && isBlank(value))) return undefined;
  if (Array.isArray(value)) return value.map(enclosed);
  return typeof value === 'object' ? new Source('', value as Record<string, unknown>, null) : value;
}

type Key = string | number | Drop;

/** Returns whether a key can name a value. Longer keys are never stored, and a list is not a key. */
function isKey(key: unknown): key is Key {
  if (typeof key === 'string') return key.length <= JSON_MAX_KEY_CHARS;
  return typeof key === 'number' || key instanceof Drop;
}

/** Charged before the keys are used. Liquid turns a list that is used as a key into text. */
function costOfKeys(keys: readonly unknown[]): number {
  let cost = 0;
  for (const key of keys) cost += costOf(key);
  return cost;
}

function nameOf(keys: readonly unknown[]): string {
  let name = '';
  for (const key of keys) {
    if (name.length > NAME_MAX_CHARS) break;
    const text = typeof key === 'string' ? key : typeof key === 'number' ? String(key) : '';
    name += (name === '' ? '' : '.') + text.slice(0, NAME_MAX_CHARS);
  }
  return name.slice(0, NAME_MAX_CHARS);
}

/** Resolves names for Liquid. Each part of an email has its own. */
export class LiquidCheckContext extends Context {
  readonly findings: Findings;
  /** Escapes a value for this part. */
  readonly write: (value: unknown) => string;
  /** Names so far that have neither a value nor a default; see `liquid.ts`. */
  unset = new Set<string>();

  constructor(
    liquid: Liquid,
    { findings, write }: { findings: Findings; write: (value: unknown) => string },
  ) {
    super(findings.roots(), liquid.options, { sync: true }, { liquid });
    this.findings = findings;
    this.write = write;
    // Liquid calls this before each piece, with the time.
    this.renderLimit.check = () => this.work.chargePiece();
    // Liquid calls this before a filter or a range creates characters or items.
    this.memoryLimit.use = (count) => this.work.allocate(count);
  }

  get work(): RenderWork {
    return this.findings.work;
  }

  noteUnset(name: string): void {
    if (this.unset.size < MISSING_MAX) this.unset.add(name);
  }

  /** Writes a value. Charges for the value, and for its text, which escaping may make five times as long. */
  written(value: unknown): string {
    this.work.charge(costOf(value));
    const text = this.write(value);
    this.work.charge(text.length / CHARS_PER_UNIT);
    return text;
  }

  /** The name of a loop contains the source of its list. Liquid writes it as JSON wherever `forloop` is used as a value. */
  override push(scope: object): number {
    const { forloop } = scope as { forloop?: { name: string } };
    if (forloop instanceof Drop) forloop.name = forloop.name.slice(0, NAME_MAX_CHARS);
    return super.push(scope);
  }

  /** Liquid looks for the first key in each scope, so that key is checked before. */
  override _get(paths: Key[]): IterableIterator<unknown> {
    return typeof paths[0] === 'string' && isKey(paths[0])
      ? super._get(paths)
      : this._getFromScope(undefined, paths);
  }

  override *_getFromScope(scope: unknown, paths: Key[] | string): IterableIterator<unknown> {
    const keys = typeof paths === 'string' ? paths.split('.') : paths;
    this.work.charge(costOfKeys(keys));
    let value = scope;
    for (const key of keys) value = yield this.readProperty(value as Scope, key);
    this.work.charge(costOf(value));
    if (value === undefined || value === null) this.noteUnset(nameOf(keys));
    return value;
  }

  override readProperty(from: Scope, key: Key): unknown {
    if (!isKey(key)) return undefined;
    const source: unknown = from;
    if (!(source instanceof Source)) return super.readProperty(from, key);
    const value = source.read(key);
    // Charged by the stored value, because checking a long text for blankness reads all of it.
    this.work.charge(costOf(value));
    return enclosed(value);
  }
}
