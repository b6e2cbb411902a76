import type { Static } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type * as schema from './schema.ts';
import type * as wire from './wire.ts';

test('schema and wire types are the same', () => {
  expectTypeOf<Static<typeof schema.UserSchema>>().toEqualTypeOf<wire.UserInput>();
  expectTypeOf<Static<typeof schema.EventSchema>>().toEqualTypeOf<wire.EventInput>();
  expectTypeOf<Static<typeof schema.UsersBulkSchema>>().toEqualTypeOf<wire.UsersBulkInput>();
  expectTypeOf<Static<typeof schema.EventsBatchSchema>>().toEqualTypeOf<wire.EventsBatchInput>();
  expectTypeOf<Static<typeof schema.EventsBulkSchema>>().toEqualTypeOf<wire.EventsBulkInput>();
  expectTypeOf<Static<typeof schema.AcceptedSchema>>().toEqualTypeOf<wire.Accepted>();
  expectTypeOf<Static<typeof schema.BatchAcceptedSchema>>().toEqualTypeOf<wire.BatchAccepted>();
  expectTypeOf<Static<typeof schema.BulkResultSchema>>().toEqualTypeOf<wire.BulkResult>();
  expectTypeOf<Static<typeof schema.ErrorSchema>>().toEqualTypeOf<wire.ErrorBody>();
});
