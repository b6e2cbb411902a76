/** Seeds that once showed something, and what that was. They are played in every run, whatever else is. */
export type Fixture = { scenario: string; seed: number; showed: string };

export const FIXTURES: Fixture[] = [
  {
    scenario: 'emails',
    seed: 3,
    showed:
      'an email whose lease ended during its submission was returned as if it had only been claimed, and was sent twice',
  },
  {
    scenario: 'emails',
    seed: 27,
    showed: 'a postponed email that came due while its rule was off was never checked again',
  },
  {
    scenario: 'webhooks',
    seed: 11,
    showed:
      'an endpoint that fails all the time is asked twice within half a minute where a worker stood still for a lease; that is as it should be',
  },
  {
    scenario: 'webhooks',
    seed: 9945,
    showed:
      'an endpoint that fails all the time was asked twice within half a minute where the clock of the calling worker was set back before the response',
  },
  {
    scenario: 'webhooks',
    seed: 8768,
    showed:
      'failures that were told a quarter of an hour late counted as near to those of now; the product was right',
  },
  {
    scenario: 'emails',
    seed: 1127,
    showed:
      'an email that was returned, and then sent to another address of its user, counted for the former address as well; the product was right',
  },
];
