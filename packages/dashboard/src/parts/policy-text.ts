/** Converts policy settings between the server's text form and form fields. */

const OFF = 'off';

export type Quiet = { start: string; end: string };

export function readQuiet(text: string): Quiet | null {
  const [, start, end] = /^(\d{2}:\d{2})-(\d{2}:\d{2})$/.exec(text) ?? [];
  return start !== undefined && end !== undefined ? { start, end } : null;
}

export function printQuiet(quiet: Quiet | null): string {
  return quiet ? `${quiet.start}-${quiet.end}` : OFF;
}

/** `amount` and `unit` are those of `24h`. */
export type Cap = { emails: number; amount: number; unit: 'm' | 'h' | 'd' };

export function readCaps(text: string): Cap[] {
  return text.split(',').flatMap((entry) => {
    const [, emails, amount, unit] = /^(\d+)\/(\d+)([mhd])$/.exec(entry) ?? [];
    return unit === undefined
      ? []
      : [{ emails: Number(emails), amount: Number(amount), unit: unit as Cap['unit'] }];
  });
}

export function printCaps(caps: Cap[]): string {
  return caps.map(({ emails, amount, unit }) => `${emails}/${amount}${unit}`).join(',') || OFF;
}

export type Throttle = { emails: number; per: 's' | 'm' | 'h' };

export function readThrottle(text: string): Throttle | null {
  const [, emails, per] = /^(\d+)\/([smh])$/.exec(text) ?? [];
  return per === undefined ? null : { emails: Number(emails), per: per as Throttle['per'] };
}

export function printThrottle(throttle: Throttle | null): string {
  return throttle ? `${throttle.emails}/${throttle.per}` : OFF;
}

/** A whole number and a unit; null for other values, such as `draft` or `forever`. */
export type Span = { amount: number; unit: 's' | 'm' | 'h' | 'd' };

export function readSpan(text: string): Span | null {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return unit === undefined ? null : { amount: Number(amount), unit: unit as Span['unit'] };
}

export type Topic = { id: string; title: string };

export function readTopics(text: string): Topic[] {
  if (text === 'none') return [];
  return text.split(',').map((entry) => {
    const colon = entry.indexOf(':');
    return colon < 0
      ? { id: entry.trim(), title: '' }
      : { id: entry.slice(0, colon).trim(), title: entry.slice(colon + 1) };
  });
}

/** A comma separates topics, so a title contains none. */
export function printTopics(topics: Topic[]): string {
  return topics.map(({ id, title }) => `${id}:${title.replaceAll(',', ' ')}`).join(',') || 'none';
}
