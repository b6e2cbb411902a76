/** The event types that an endpoint can receive or select. */
export const WEBHOOK_TYPES = [
  'email.opened',
  'email.clicked',
  'email.replied',
  'email.bounced',
  'email.unsubscribed',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** The classification of an open or click: `yes` is a bot, `probable` is probably a bot, `no` is a human. */
export const BOT_LIKELIHOODS = ['yes', 'probable', 'no'] as const;
export type BotLikelihood = (typeof BOT_LIKELIHOODS)[number];

export const BOUNCE_CLASSES = ['hard', 'soft', 'policy', 'infrastructure'] as const;
export type BounceClass = (typeof BOUNCE_CLASSES)[number];

export const UNSUBSCRIBE_METHODS = ['link', 'one_click', 'mailto', 'complaint'] as const;
export type UnsubscribeMethod = (typeof UNSUBSCRIBE_METHODS)[number];

/** The fields of all events. The email address is left out: the customer has it in their own records. */
export type WebhookAbout = {
  external_user_id: string;
  email_id: string;
  draft_id: string;
  rule: string;
  occurred_at: string;
};

export type WebhookData = {
  'email.opened': WebhookAbout & { bot: BotLikelihood; bot_reason: string | null };
  'email.clicked': WebhookAbout & { bot: BotLikelihood; bot_reason: string | null; url: string };
  'email.replied': WebhookAbout & { snippet: string; auto_reply: false };
  'email.bounced': WebhookAbout & {
    bounce_class: BounceClass;
    status: string | null;
    reason: string;
    /**
     * `smtp`: reported while the email was submitted; `dsn`: by a bounce message afterwards; `relay`: by the provider of the relay
     * afterwards.
     */
    source: 'smtp' | 'dsn' | 'relay';
  };
  'email.unsubscribed': WebhookAbout & { method: UnsubscribeMethod };
  /** Sent on demand to one endpoint. No event occurred, and endpoints cannot subscribe to it. */
  test: { message: string };
};

/** The body of a webhook delivery. Every attempt has the same `id` and the same bytes. */
export type WebhookEvent<T extends keyof WebhookData = keyof WebhookData> = {
  [K in T]: { id: string; type: K; timestamp: string; livemode: boolean; data: WebhookData[K] };
}[T];
