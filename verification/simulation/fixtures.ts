/** Seeds that once showed something, and what that was. They are played in every run, whatever else is. */
export type Fixture = { scenario: string; seed: number; finding: string };

export const FIXTURES: Fixture[] = [
  {
    scenario: 'emails',
    seed: 3,
    finding:
      'an email whose lease ended during its submission was returned as if it had only been claimed, and was sent twice',
  },
  {
    scenario: 'emails',
    seed: 27,
    finding: 'a postponed email that came due while its rule was off was never checked again',
  },
  {
    scenario: 'webhooks',
    seed: 11,
    finding:
      'an endpoint that fails all the time is requested twice within half a minute if a worker stalled for a lease; that is correct',
  },
  {
    scenario: 'webhooks',
    seed: 9945,
    finding:
      'a failing endpoint was requested twice within half a minute when the clock of the worker was set back before the response',
  },
  {
    scenario: 'webhooks',
    seed: 8768,
    finding: 'failures recorded a quarter of an hour late counted as recent; the product was right',
  },
  {
    scenario: 'emails',
    seed: 1127,
    finding:
      'an email that was returned, and then sent to another address of its user, counted for the former address as well; the product was right',
  },
];
