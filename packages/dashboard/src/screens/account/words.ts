const MINUTE_S = 60;

/** The waiting time after too many attempts. */
export function waitWords(retryAfterS: number | null): string {
  if (retryAfterS === null) return 'Wait a moment, then try again.';
  const minutes = Math.ceil(retryAfterS / MINUTE_S);
  return `Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}

/** The requested page before sign-in. A URL of another host becomes `/`. */
export function safeNext(next: string | undefined): string {
  const isOurs = next !== undefined && /^\/(?![/\\])/.test(next) && !next.startsWith('/sign-in');
  return isOurs ? next : '/';
}

/** "Firefox on Linux", from the user agent. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown browser';
  const browser = BROWSERS.find(([sign]) => userAgent.includes(sign))?.[1];
  const system = SYSTEMS.find(([sign]) => userAgent.includes(sign))?.[1];
  if (!browser) return userAgent.slice(0, 60);
  return system ? `${browser} on ${system}` : browser;
}

/** The first match wins: each user agent also names its ancestors. */
const BROWSERS: [string, string][] = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
];
const SYSTEMS: [string, string][] = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
];
