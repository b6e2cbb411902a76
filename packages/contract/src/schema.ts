/**
 * The requests and responses of the public API. Validation, the OpenAPI document and the types in `wire.ts` derive from them. Unknown
 * fields are ignored everywhere.
 */

import Type from 'typebox';
import {
  BATCH_MAX_EVENTS,
  BULK_INGEST_MAX_RECORDS,
  EMAIL_MAX_CHARS,
  EVENT_NAME_MAX_CHARS,
  EXTERNAL_USER_ID_MAX_CHARS,
  MESSAGE_ID_MAX_CHARS,
} from './limits.ts';
import type { JsonObject } from './json.ts';

const FreeForm = (description: string) => Type.Unsafe<JsonObject>({ type: 'object', description });

const ExternalUserId = Type.String({
  minLength: 1,
  maxLength: EXTERNAL_USER_ID_MAX_CHARS,
  description: "The caller's own stable identifier of the user. Not trimmed, not case-folded.",
});

export const UserSchema = Type.Object(
  {
    external_user_id: ExternalUserId,
    email: Type.Optional(
      Type.String({
        maxLength: EMAIL_MAX_CHARS,
        format: 'email',
        description: 'Left out: the stored one stays.',
      }),
    ),
    traits: Type.Optional(
      FreeForm(
        'Merged into the stored traits, key by key; null removes a key. `name`, `plan`, `signupDate`, `company` and `role` are known keys.',
      ),
    ),
  },
  { title: 'User' },
);

export const EventSchema = Type.Object(
  {
    external_user_id: ExternalUserId,
    name: Type.String({
      minLength: 1,
      maxLength: EVENT_NAME_MAX_CHARS,
      description: 'A canonical name or any of your own, kept exactly as sent.',
    }),
    properties: Type.Optional(FreeForm('Free-form properties; `{}` when left out.')),
    occurred_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'RFC 3339 with `Z` or an offset, from 2000-01-01 to an hour from now. Left out: the time of receipt.',
      }),
    ),
    message_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MESSAGE_ID_MAX_CHARS,
        description:
          'Your own id of this event, unique in the project for ever: a second event with it has no effect.',
      }),
    ),
  },
  { title: 'Event' },
);

const SuppressTriggers = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'true: the users of these events are suppressed until their next normal event; no rule fires for this history.',
  }),
);

export const UsersBulkSchema = Type.Object(
  { users: Type.Array(UserSchema, { minItems: 1, maxItems: BULK_INGEST_MAX_RECORDS }) },
  { title: 'UsersBulk' },
);

export const EventsBatchSchema = Type.Object(
  {
    events: Type.Array(EventSchema, { minItems: 1, maxItems: BATCH_MAX_EVENTS }),
    suppressTriggers: SuppressTriggers,
  },
  { title: 'EventsBatch' },
);

export const EventsBulkSchema = Type.Object(
  {
    events: Type.Array(EventSchema, { minItems: 1, maxItems: BULK_INGEST_MAX_RECORDS }),
    suppressTriggers: SuppressTriggers,
  },
  { title: 'EventsBulk' },
);

export const AcceptedSchema = Type.Object(
  { data: Type.Object({ accepted: Type.Literal(true) }) },
  { title: 'Accepted' },
);

export const BatchAcceptedSchema = Type.Object(
  { data: Type.Object({ accepted: Type.Literal(true) }), meta: Type.Object({ received: Type.Integer() }) },
  { title: 'BatchAccepted' },
);

export const BulkErrorSchema = Type.Object({
  index: Type.Integer({ description: '0-based position in the request.' }),
  code: Type.Literal('validation'),
  message: Type.String(),
  field: Type.Optional(Type.String({ description: 'Path inside the record.' })),
});

export const BulkResultSchema = Type.Object(
  {
    data: Type.Object({
      accepted: Type.Integer({ description: 'Records that passed validation and were enqueued.' }),
      rejected: Type.Integer({ description: 'Records that failed validation.' }),
      errors: Type.Array(BulkErrorSchema),
    }),
    meta: Type.Object({ received: Type.Integer() }),
  },
  { title: 'BulkResult' },
);

export const ErrorEntrySchema = Type.Object({
  code: Type.String(),
  message: Type.String(),
  field: Type.Optional(Type.String()),
});

export const ErrorSchema = Type.Object(
  { errors: Type.Array(ErrorEntrySchema, { minItems: 1 }) },
  { title: 'Error' },
);
