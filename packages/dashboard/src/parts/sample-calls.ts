/** SampleTarget is the server and the API key of a sample call. Without a key, the shell reads it from a variable. */
export type SampleTarget = { url: string; key?: string };

/** The user of sample calls. */
export const SAMPLE_USER = 'user_1';

/** A call of the API for a shell. All samples of the dashboard come from here, so that they agree. */
export function curlOf({ url, key = '$BECKON_API_KEY' }: SampleTarget, path: string, body: object): string {
  return [
    `curl ${url}/api/v1/${path}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H "Content-Type: application/json"`,
    // A value could otherwise end the quotes.
    `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' \\\n  ');
}

/**
 * The calls that create a draft: a user with an address, and the event that the built-in welcome rule waits for. The rule enrolls each user
 * once, so a second sample needs another user.
 */
export function firstCalls(
  target: SampleTarget,
  { email, user = SAMPLE_USER }: { email: string; user?: string },
): string {
  return [
    curlOf(target, 'users', { external_user_id: user, email, traits: { name: 'Ada' } }),
    curlOf(target, 'events', { external_user_id: user, name: 'user_signed_up' }),
  ].join('\n');
}
