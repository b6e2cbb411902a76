/** Something to tell, once; `body` is what every endpoint gets, byte for byte, however often. */
export type NewWebhookMessage = {
  projectId: number;
  id: string;
  /** Null for a test. */
  outcomeId: string | null;
  type: string;
  userId: string | null;
  body: string;
  /** Milliseconds. */
  createdAt: number;
};
