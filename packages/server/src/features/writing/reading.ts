import { Context, type Drop, type Liquid, type Scope } from 'liquidjs';
import { ownLocale } from '../../base/locale.ts';
import type { LetterPart } from './letter.ts';
import { formatsOf, type LocaleFormats } from './locale-formats.ts';
import { isBlank, oneLine } from './printed.ts';
import { costOf, RenderWork } from './render-work.ts';
import { type LetterVariables, LOCALE_FACT, valueOf, ZONE_FACT } from './variables.ts';

const FACTS_MAX = 255;
const MISSING_MAX = 50;
const NAME_MAX_CHARS = 200;
/** In units of work. Creating all formatters of a locale takes about 2 ms. */
const NAMED_LOCALE_COST = 4_000;

/** What came up while the parts of one letter were rendered. */
export class Findings {
  /** What was read of the person, the event and the run. */
  readonly facts: Record<string, unknown> = {};
  readonly missing = new Set<string>();
  /** One budget for all parts. */
  readonly work = new RenderWork();
  failed: LetterPart | null = null;
  readonly #variables: LetterVariables;
  readonly #namedLocales = new Set<string>();
  #facts = 0;

  constructor(variables: LetterVariables) {
    this.#variables = variables;
  }

  noteFact(name: string, value: unknown): void {
    if (Object.hasOwn(this.facts, name) || this.#facts >= FACTS_MAX) return;
    this.#facts += 1;
    this.facts[name] = value;
  }

  /** Work besides the email's own. Whether a source was parsed or a locale was used before does not decide if it may be rendered. */
  parsed = 0;

  noteParsed(units: number): void {
    this.parsed += units;
  }

  noteMissing(name: string): void {
    if (this.missing.size < MISSING_MAX) this.missing.add(oneLine(name).slice(0, NAME_MAX_CHARS));
  }

  /** Noted as a fact, because another zone may be on another day. */
  readonly zone = (): string => {
    this.noteFact(ZONE_FACT, this.#variables.zone);
    return this.#variables.zone;
  };

  /** The formatters of the locale that a filter names, otherwise of the recipient. Each named locale is charged once. */
  formats(named: unknown): LocaleFormats {
    const locale = ownLocale(named);
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

  /** The root of all names. Without a prototype: `constructor` is no variable. */
  roots(): Record<string, unknown> {
    const { person, event, project, run } = this.#variables;
    return Object.assign(Object.create(null) as Record<string, unknown>, {
      person: new Source('person', person, this),
      event: new Source('event', event, this),
      project: new Source('project', project, null),
      run: new Source('run', run, this),
    });
  }
}

/** Values that only tell what they are asked for by name, and note it. Nothing can list them, count them or print them whole. */
class Source {
  readonly #name: string;
  readonly #values: Record<string, unknown>;
  readonly #findings: Findings | null;

  constructor(name: string, values: Record<string, unknown>, findings: Findings | null) {
    this.#name = name;
    this.#values = values;
    this.#findings = findings;
  }

  read(key: unknown): unknown {
    if (typeof key !== 'string' && typeof key !== 'number') return undefined;
    const value = valueOf(this.#values, String(key));
    this.#findings?.noteFact(oneLine(`${this.#name}.${key}`), value);
    return enclosed(value);
  }

  toString(): string {
    return '';
  }
}

/** Blank text is as good as none: `Hi ,` helps nobody. Nor does `[object Object]`, so objects are told by name only. */
function enclosed(value: unknown): unknown {
  if (value === null || (typeof value === 'string' && isBlank(value))) return undefined;
  if (Array.isArray(value)) return value.map(enclosed);
  return typeof value === 'object' ? new Source('', value as Record<string, unknown>, null) : value;
}

/** How Liquid asks for a name; one for each part of a letter. */
export class Reading extends Context {
  readonly findings: Findings;
  /** How a value is written into this part. */
  readonly write: (value: unknown) => string;
  /** Names without a value that nothing has stood in for yet: see `liquid.ts`. */
  unset: string[] = [];

  constructor(
    liquid: Liquid,
    { findings, write }: { findings: Findings; write: (value: unknown) => string },
  ) {
    super(findings.roots(), liquid.options, { sync: true }, { liquid });
    this.findings = findings;
    this.write = write;
    // Liquid calls this before each piece, with the time.
    this.renderLimit.check = () => this.work.chargePiece();
    const use = this.memoryLimit.use.bind(this.memoryLimit);
    // Ranges and what filters make pass here. Making them takes time too, and too much memory is too much work.
    this.memoryLimit.use = (count) => {
      try {
        use(count);
      } catch {
        this.work.charge(Infinity);
      }
      this.work.charge(count > 0 ? count / 16 : 0);
    };
  }

  get work(): RenderWork {
    return this.findings.work;
  }

  override *_getFromScope(
    scope: unknown,
    paths: (string | number | Drop)[] | string,
  ): IterableIterator<unknown> {
    const keys = typeof paths === 'string' ? paths.split('.') : paths;
    let value = scope;
    for (const key of keys) value = yield this.readProperty(value as Scope, key);
    this.work.charge(keys.length + costOf(value));
    if (value === undefined || value === null) this.unset.push(keys.map(String).join('.'));
    return value;
  }

  override readProperty(from: Scope, key: string | number | Drop): unknown {
    return (from as unknown) instanceof Source
      ? (from as unknown as Source).read(key)
      : super.readProperty(from, key);
  }
}
