/** The client in a `User-Agent` header: the first `name/semver` token, such as `beckon-js/1.4.0`. */
export type Client = { name: string; version: string };

const COMMENT = /\([^()]*\)/g;
const CLIENT =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64})\/((?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?)$/;
/** Only the start of a longer header is read. */
const READ_CHARS_MAX = 512;

export function readClient(userAgent: string): Client | undefined {
  const tokens = userAgent.slice(0, READ_CHARS_MAX).replace(COMMENT, ' ').split(/\s+/);
  for (const token of tokens) {
    const [, name, version] = CLIENT.exec(token) ?? [];
    if (name && version) return { name, version };
  }
  return undefined;
}

/** Returns a negative number, zero or a positive number, in the order of semver.org. The part after a `+` does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [splitVersion(a), splitVersion(b)];
  for (let i = 0; i < 3; i += 1) {
    const difference = (left.core[i] ?? 0) - (right.core[i] ?? 0);
    if (difference !== 0) return difference;
  }
  // A release is higher than its own pre-releases.
  if (left.pre === undefined || right.pre === undefined)
    return Number(left.pre === undefined) - Number(right.pre === undefined);
  return comparePrereleases(left.pre.split('.'), right.pre.split('.'));
}

function splitVersion(text: string): { core: number[]; pre: string | undefined } {
  const [version = ''] = text.split('+', 1);
  const dash = version.indexOf('-');
  const core = (dash < 0 ? version : version.slice(0, dash)).split('.').map(Number);
  return { core, pre: dash < 0 ? undefined : version.slice(dash + 1) };
}

function comparePrereleases(a: string[], b: string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = compareIdentifiers(a[i], b[i]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return Number(a) - Number(b);
  if (numericA !== numericB) return numericA ? -1 : 1;
  return a < b ? -1 : 1;
}
