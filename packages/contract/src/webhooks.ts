/** What a customer's endpoint is told of, and can ask to be told of alone. */
export const WEBHOOK_TYPES = [
  'email.opened',
  'email.clicked',
  'email.replied',
  'email.bounced',
  'email.unsubscribed',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** Who opened or clicked: a person, a machine, or probably a machine. */
export const BOT_VERDICTS = ['yes', 'probable', 'no'] as const;
export type BotVerdict = (typeof BOT_VERDICTS)[number];

export const BOUNCE_CLASSES = ['hard', 'soft', 'policy', 'infrastructure'] as const;
export type BounceClass = (typeof BOUNCE_CLASSES)[number];

export const UNSUBSCRIBE_METHODS = ['link', 'one_click', 'mailto', 'complaint'] as const;
export type UnsubscribeMethod = (typeof UNSUBSCRIBE_METHODS)[number];

/** What all of them say. The address itself is left out: it is in the customer's own records. */
export type WebhookAbout = {
  external_user_id: string;
  email_id: string;
  draft_id: string;
  rule: string;
  occurred_at: string;
};

export type WebhookData = {
  'email.opened': WebhookAbout & { bot: BotVerdict; bot_reason: string | null };
  'email.clicked': WebhookAbout & { bot: BotVerdict; bot_reason: string | null; url: string };
  'email.replied': WebhookAbout & { snippet: string; auto_reply: false };
  'email.bounced': WebhookAbout & {
    bounce_class: BounceClass;
    status: string | null;
    reason: string;
    /** Said while it was handed over, or by a message afterwards. */
    source: 'smtp' | 'dsn';
  };
  'email.unsubscribed': WebhookAbout & { method: UnsubscribeMethod };
  /** Sent on demand, to one endpoint: nothing happened, and nobody subscribes to it. */
  test: { message: string };
};

/** The body of a delivery. `id` is the same, and the bytes are, however often it is delivered. */
export type WebhookEvent<T extends keyof WebhookData = keyof WebhookData> = {
  [K in T]: { id: string; type: K; timestamp: string; livemode: boolean; data: WebhookData[K] };
}[T];
