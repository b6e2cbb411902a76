import Type from 'typebox';
import { item } from './envelope.ts';
import type { RelayField } from './relays.ts';
import type { SuppressionImport } from './suppressions.ts';

/** How a relay reports what became of its emails. */
export type RelayFeedback = {
  /** When a bounce or a complaint first came back. Null: none did, so Beckon may miss them. */
  proven_at: string | null;
  /** The name of the provider. Null: an SMTP relay whose host belongs to no known provider, so that bounces arrive by email. */
  provider: string | null;
  /** Emails are sent by SMTP. Each has a header with its token, which the provider returns. */
  by_smtp: boolean;
  /** The fields of the relay, including those for its feedback. Empty without a provider. */
  fields: RelayField[];
  /** The labels of settings that requests to the API of the provider need, and that are missing. */
  api_needs: string[];
  webhook: {
    /** The address to enter at the provider. It may contain a secret. */
    url: string;
    /** The events to choose, as the provider spells them. */
    events: string[];
    /** The setting by which requests are verified, and which is still missing. Null: it is there. */
    missing: { field: string; label: string } | null;
    /** Beckon can create the webhook by the API of the provider. */
    can_register: boolean;
    /** The address of Beckon is not public, so that no provider reaches it. */
    is_local: boolean;
  } | null;
  /** `on`: Beckon reads the events of the provider. `off`: it could, with more settings. `none`: the provider cannot list them. */
  pull: 'on' | 'off' | 'none';
  /** The address for which the provider simulates a bounce. Null: enter one that does not exist. */
  simulator: string | null;
  /** Beckon can import the suppression list of the provider. */
  can_import_suppressions: boolean;
};

/** `:relay` is the id of a relay of the project or of the installation. */
export const RELAY_FEEDBACK_API = {
  'GET /projects/:project/relays/:relay/feedback': { response: item<RelayFeedback>() },
  /** Creates the webhook at the provider, and stores the key that signs its requests. */
  'POST /projects/:project/relays/:relay/feedback/webhook': { response: item<RelayFeedback>() },
  /** Adds the suppression list of the provider to that of the project. Importing it again adds only new addresses. */
  'POST /projects/:project/relays/:relay/suppressions': { response: item<SuppressionImport>() },
  /** Sends an email that bounces. The feedback is proven when its bounce comes back. */
  'POST /projects/:project/relays/:relay/feedback/proof': {
    body: Type.Object({ address: Type.Optional(Type.String({ maxLength: 320 })) }),
    response: item<{ to: string }>(),
  },
};
