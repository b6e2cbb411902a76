import type { One, Raw } from './envelope.ts';

/**
 * Webhooks for a program on somebody's own machine, which no endpoint reaches: it fetches them, signs them with its secret and
 * posts them where it likes.
 */
export type ListenApi = {
  /** The same for a person and a project, each time: receivers on that machine keep it. */
  'POST /projects/:project/listener': { answer: One<{ secret: string }> };
  /**
   * Server-sent events, as `message`, in the order in which they happened: `id` is the place to come back to by `Last-Event-ID`,
   * `data` a `ListenedMessage`. Whoever comes back misses nothing of the last day, and may hear some again, told by their ids.
   * `gap` and `end` are those of the feed.
   */
  'GET /projects/:project/listen': { answer: Raw };
};

/** `body` is what endpoints are posted, byte for byte. */
export type ListenedMessage = { id: string; type: string; body: string };
