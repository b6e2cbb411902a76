import type { EventInput, JsonObject, UserInput } from '@beckon/contract';
import { iso } from '../../../platform/time/clock.ts';
import { isEmail } from '../../../platform/records/email.ts';
import { type Catalogue, withItems } from './catalog.ts';
import type { BillingHistory, SubscriptionFacts } from './snapshot.ts';
import { type BillingEvent, isTrialRunning, planNow, subscriptionEvents } from './subscription-events.ts';

/** Facts from before the import about the user that a customer belongs to. */
export type CustomerOwner = {
  userId: string;
  isKnown: boolean;
  hasAddress: boolean;
  /** If a user has several customers, the newest one describes the user and the oldest one dates the sign-up. */
  isNewest: boolean;
  isOldest: boolean;
};

export type BillingRecords = {
  user: UserInput | null;
  /** Oldest first. */
  events: EventInput[];
  trialsWithoutReminder: { plan: string | null; endsAt: number }[];
};

/**
 * Converts a customer's history to records of the API. Facts from the product outweigh facts from billing. So a user who already exists
 * gets only the billing facts, and an email address if there was none.
 */
export function recordsOf(
  history: BillingHistory,
  owner: CustomerOwner,
  options: { catalogue: Catalogue; asOf: number },
): BillingRecords {
  const catalogue = withItems(options.catalogue, history.subscriptions);
  const invoices = history.invoices.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  const happened = history.subscriptions.flatMap((subscription) =>
    subscriptionEvents(
      subscription,
      invoices.filter((invoice) => invoice.subscription === subscription.id),
      { catalogue, asOf: options.asOf },
    ),
  );
  const events = [...signUp(history, owner), ...happened]
    .toSorted((a, b) => a.at - b.at)
    .map((event) => eventInput(event, owner.userId));
  return {
    user: owner.isNewest ? userInput(history, owner, catalogue) : null,
    events,
    trialsWithoutReminder: history.subscriptions
      .filter((subscription) => isTrialRunning(subscription, options.asOf))
      .map((subscription) => ({
        plan: planNow(subscription, catalogue),
        endsAt: subscription.trialEnd ?? 0,
      })),
  };
}

/** Returns a sign-up for new users only: the product reports when existing users signed up. */
function signUp({ customer }: BillingHistory, owner: CustomerOwner): BillingEvent[] {
  if (owner.isKnown || !owner.isOldest || customer.created === null) return [];
  return [
    {
      object: customer.id,
      fact: 'created',
      name: 'user_signed_up',
      at: customer.created,
      properties: { source: 'stripe' },
    },
  ];
}

function eventInput({ object, fact, name, at, properties }: BillingEvent, userId: string): EventInput {
  return {
    external_user_id: userId,
    name,
    properties,
    occurred_at: iso(at * 1_000),
    message_id: `stripe:${object}:${fact}:${at}`,
  };
}

function userInput(history: BillingHistory, owner: CustomerOwner, catalogue: Catalogue): UserInput {
  const { customer } = history;
  const email =
    owner.hasAddress || customer.email === null || !isEmail(customer.email) ? null : customer.email;
  const traits = {
    ...(owner.isKnown ? {} : aboutPerson(history, catalogue)),
    ...optionalField('currency', customer.currency?.toUpperCase() ?? null),
    ...optionalField('delinquent', customer.isDelinquent),
    stripe_customer_id: customer.id,
  };
  return { external_user_id: owner.userId, ...optionalField('email', email), traits };
}

function aboutPerson({ customer, subscriptions }: BillingHistory, catalogue: Catalogue): JsonObject {
  const running = newestRunning(subscriptions);
  return {
    ...optionalField('name', customer.name),
    ...optionalField('company', customer.company),
    ...optionalField('plan', running && planNow(running, catalogue)),
    ...optionalField('signupDate', customer.created === null ? null : iso(customer.created * 1_000)),
  };
}

const RUNNING = new Set(['trialing', 'active', 'past_due', 'unpaid', 'paused']);

function newestRunning(subscriptions: SubscriptionFacts[]): SubscriptionFacts | null {
  return subscriptions
    .filter(({ status }) => RUNNING.has(status))
    .reduce<SubscriptionFacts | null>(
      (best, subscription) => (best && best.created >= subscription.created ? best : subscription),
      null,
    );
}

function optionalField<K extends string, V>(key: K, value: V | null): { [key in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { [key in K]: V });
}
