import { isEmail } from '../../../platform/records/email.ts';

export type Setting<T> = {
  fallback: string;
  syntax: string;
  /** Returns undefined for text in another syntax. */
  parse(text: string): T | undefined;
  print(value: T): string;
};

/** Hides the type of the value, so that settings of all types fit into one catalog. */
export function define<T>(setting: Setting<T>): Setting<T> & { normalise(text: string): string | undefined } {
  return {
    ...setting,
    normalise(text) {
      const value = setting.parse(text);
      return value === undefined ? undefined : setting.print(value);
    },
  };
}

/** `id` is used in rules, and `title` is shown to recipients. */
export type Topic = { id: string; title: string };

const OFF = 'off';
const NONE = 'none';
const LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;

/** Defines a setting with one line of text that recipients see. */
export function line(what: string, charsMax: number): ReturnType<typeof define<string | null>> {
  return define<string | null>({
    fallback: NONE,
    syntax: `${what}, one line of at most ${charsMax} characters, or ${NONE}`,
    parse(text) {
      if (text === NONE) return null;
      const trimmed = text.trim();
      return LINE.test(trimmed) && trimmed.length <= charsMax && trimmed.isWellFormed() ? trimmed : undefined;
    },
    print: (value) => value ?? NONE,
  });
}

export const mailbox = define<string | null>({
  fallback: NONE,
  syntax: `an email address, or ${NONE}`,
  parse: (text) => (text === NONE ? null : parseAddress(text)),
  print: (value) => value ?? NONE,
});

const TOPICS_MAX = 20;
const TOPIC = /^([a-z0-9][a-z0-9_-]{0,39}):([^\p{Cc}\p{Zl}\p{Zp},]{1,80})$/u;

export const topics = define<Topic[]>({
  fallback: NONE,
  syntax: `up to ${TOPICS_MAX} topics such as news:Product news,tips:Tips and tricks (id of a-z, 0-9, - and _; title without commas), or ${NONE}`,
  parse(text) {
    if (text === NONE) return [];
    const parsedTopics = text.split(',').flatMap((part) => {
      const [, id, title = ''] = TOPIC.exec(part.trim()) ?? [];
      return id !== undefined && title.trim() !== '' && title.isWellFormed()
        ? { id, title: title.trim() }
        : [];
    });
    const isWhole = parsedTopics.length === text.split(',').length && parsedTopics.length <= TOPICS_MAX;
    return isWhole && new Set(parsedTopics.map(({ id }) => id)).size === parsedTopics.length
      ? parsedTopics
      : undefined;
  },
  print: (value) => (value.length === 0 ? NONE : value.map(({ id, title }) => `${id}:${title}`).join(',')),
});

const TRACKED = ['opens', 'clicks'] as const;

export const tracking = define<{ opens: boolean; clicks: boolean }>({
  fallback: 'opens,clicks',
  syntax: `${TRACKED.join(', ')}, both separated by a comma, or ${OFF}`,
  parse(text) {
    const names = text === OFF ? [] : text.split(',');
    const isKnown = names.every((name) => TRACKED.some((kind) => kind === name));
    if (!isKnown || new Set(names).size !== names.length) return undefined;
    return { opens: names.includes('opens'), clicks: names.includes('clicks') };
  },
  print: (value) => TRACKED.filter((name) => value[name]).join(',') || OFF,
});

const TEAM_MAX = 20;

export const teamAddresses = define<string[]>({
  fallback: NONE,
  syntax: `up to ${TEAM_MAX} email addresses separated by commas, or ${NONE}`,
  parse(text) {
    if (text === NONE) return [];
    const addresses = text.split(',').flatMap((part) => parseAddress(part.trim()) ?? []);
    return addresses.length === text.split(',').length && addresses.length <= TEAM_MAX
      ? [...new Set(addresses)]
      : undefined;
  },
  print: (value) => (value.length === 0 ? NONE : value.join(',')),
});

function parseAddress(text: string): string | undefined {
  return isEmail(text) ? text : undefined;
}
