import type { JsonValue } from '@beckon/contract';

/** Further properties are kept as they are. */
type Further = { [property: string]: JsonValue | undefined };

/** The ten canonical lifecycle events: the properties named here carry meaning. */
export interface CanonicalEventTypes {
  user_signed_up: { plan?: string; source?: string } & Further;
  onboarding_completed: { step?: string } & Further;
  feature_used: { feature?: string; count?: number } & Further;
  /** `trialDays` is the length of the trial; the reminder before its end is derived from it. */
  trial_started: { trialDays?: number; plan?: string } & Further;
  /** `trialDays` is what is left of the trial. */
  trial_expiring: { trialDays?: number } & Further;
  usage_threshold_reached: { usagePercent: number; meter?: string; limit?: number } & Further;
  subscription_started: { plan?: string; interval?: string; amount?: number; currency?: string } & Further;
  subscription_changed: { fromPlan?: string; toPlan?: string; direction?: string } & Further;
  subscription_canceled: { plan?: string; reason?: string } & Further;
  payment_failed: { amount?: number; currency?: string; attempt?: number } & Further;
}

/**
 * Every event that has a type. Yours are added by declaration:
 *
 *     declare module '@beckon/client' {
 *       interface EventTypes { report_exported: { pages: number } }
 *     }
 */
export interface EventTypes extends CanonicalEventTypes {}

export type PropertiesOf<Name extends string> = Name extends keyof EventTypes ? EventTypes[Name] : Further;

type Properties<Name extends string> =
  Record<never, never> extends PropertiesOf<Name>
    ? { properties?: PropertiesOf<Name> }
    : { properties: PropertiesOf<Name> };

/** Something that a user did. Names without a type are taken as well, with any properties. */
export type TrackedEvent<Name extends string = string> = Name extends string
  ? {
      external_user_id: string;
      name: Name;
      /** When it happened; when it is received, where left out. */
      occurred_at?: string | Date;
      /** Your own id of this event: a second one with it has no effect, ever. */
      message_id?: string;
    } & Properties<Name>
  : never;

/** An event of whatever name: what it may say is looked at by the server. */
export type AnyEvent = {
  external_user_id: string;
  name: string;
  properties?: object;
  occurred_at?: string | Date;
  message_id?: string;
};
