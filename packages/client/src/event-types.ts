import type { JsonValue } from '@beckon/contract';

/** Other properties are stored unchanged. */
type Further = { [property: string]: JsonValue | undefined };

/** The ten canonical lifecycle events. The properties named here have a meaning. */
export interface CanonicalEventTypes {
  user_signed_up: { plan?: string; source?: string } & Further;
  onboarding_completed: { step?: string } & Further;
  feature_used: { feature?: string; count?: number } & Further;
  /** `trialDays` is the length of the trial; the time of the reminder before its end is derived from it. */
  trial_started: { trialDays?: number; plan?: string } & Further;
  /** `trialDays` is the rest of the trial. */
  trial_expiring: { trialDays?: number } & Further;
  usage_threshold_reached: { usagePercent: number; meter?: string; limit?: number } & Further;
  subscription_started: { plan?: string; interval?: string; amount?: number; currency?: string } & Further;
  subscription_changed: { fromPlan?: string; toPlan?: string; direction?: string } & Further;
  subscription_canceled: { plan?: string; reason?: string } & Further;
  payment_failed: { amount?: number; currency?: string; attempt?: number } & Further;
}

/**
 * Every event that has a type. Add your own by declaration:
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

/** An event of a user. Names without a type are accepted too, with any properties. */
export type TrackedEvent<Name extends string = string> = Name extends string
  ? {
      external_user_id: string;
      name: Name;
      /** When the event happened. Default: when the server receives it. */
      occurred_at?: string | Date;
      /** Your own id of this event. A second event with the same id never has an effect. */
      message_id?: string;
    } & Properties<Name>
  : never;

/** An event with any name. Only the server validates its properties. */
export type AnyEvent = {
  external_user_id: string;
  name: string;
  properties?: object;
  occurred_at?: string | Date;
  message_id?: string;
};
