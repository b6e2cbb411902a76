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

/** The first API calls of a new project: a user, and the event that creates their first draft. */
export function firstCall({
  publicUrl,
  secret,
  email,
}: {
  publicUrl: string;
  secret: string;
  email: string;
}): string {
  const call = (path: string, body: object): string =>
    [
      `curl ${publicUrl}/api/v1/${path}`,
      `-H 'Authorization: Bearer ${secret}'`,
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
    ].join(' \\\n  ');
  return [
    call('users', { external_user_id: 'user_1', email, traits: { name: 'Ada' } }),
    call('events', { external_user_id: 'user_1', name: 'user_signed_up' }),
  ].join('\n');
}
