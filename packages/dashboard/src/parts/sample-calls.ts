/** A request of the public API: the path after `/api/v1/`, and its body. */
export type SampleCall = { path: string; body: object };

/** The user of sample calls. */
export const SAMPLE_USER = 'user_1';

/** The variable that samples read the key from. */
export const KEY_VARIABLE = 'BECKON_API_KEY';

/**
 * The calls that create a draft: a user with an address, and the event that the built-in welcome rule waits for. The rule enrolls each user
 * once, so a second sample needs another user.
 */
export function firstCalls({ email, user = SAMPLE_USER }: { email: string; user?: string }): SampleCall[] {
  return [
    { path: 'users', body: { external_user_id: user, email, traits: { name: 'Ada' } } },
    { path: 'events', body: { external_user_id: user, name: 'user_signed_up' } },
  ];
}
