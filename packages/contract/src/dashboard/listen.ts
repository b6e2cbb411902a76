import { item, raw } from './envelope.ts';

/**
 * Webhooks for a program on a developer's machine, which no endpoint can reach. The program fetches them, signs them with its secret and
 * posts them to a local address.
 */
export const LISTEN_API = {
  /** Returns the same secret for a member and a project every time, because receivers on that machine store it. */
  'POST /projects/:project/listener': { response: item<{ secret: string }>() },
  /**
   * Server-sent `message` events in the order in which they happened. `id` is the position for `Last-Event-ID`; `data` is a
   * `ListenedWebhook`. A client that reconnects misses no message of the last day, and may receive some twice, with the same ids. `gap` and
   * `end` are those of the feed.
   */
  'GET /projects/:project/listen': { response: raw() },
};

/** `body` is byte for byte the body that endpoints get. */
export type ListenedWebhook = { id: string; type: string; body: string };
