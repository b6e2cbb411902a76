import { expectTypeOf, test } from 'vitest';
import type { Beckon, EventTypes, TrackedEvent } from '@beckon/client';

declare module '@beckon/client' {
  interface EventTypes {
    report_exported: { pages: number };
  }
}

type Track = Beckon['track'];
type Batch = Beckon['batch'];
declare const track: Track;
declare const batch: Batch;

test('track › has types for canonical and declared events, and accepts any other name', () => {
  const calls = (): void => {
    void track({ external_user_id: 'ada', name: 'trial_started', properties: { trialDays: 14, seats: 3 } });
    void track({ external_user_id: 'ada', name: 'trial_started' });
    void track({ external_user_id: 'ada', name: 'report_exported', properties: { pages: 3 } });
    void track({ external_user_id: 'ada', name: 'anything_else', properties: { at: 'noon' } });
    // @ts-expect-error A property that carries meaning has its type.
    void track({ external_user_id: 'ada', name: 'trial_started', properties: { trialDays: '14' } });
    // @ts-expect-error What is required is.
    void track({ external_user_id: 'ada', name: 'usage_threshold_reached' });
    // @ts-expect-error Own events are as strict as they were declared.
    void track({ external_user_id: 'ada', name: 'report_exported', properties: { page: 3 } });
    void batch([
      { external_user_id: 'ada', name: 'trial_started', properties: { trialDays: 14 } },
      { external_user_id: 'ada', name: 'anything_else' },
    ]);
    void batch([
      { external_user_id: 'ada', name: 'onboarding_completed' },
      // @ts-expect-error Each of a batch is held to its own name.
      { external_user_id: 'ada', name: 'report_exported', properties: { pages: 'three' } },
    ]);
    const unknown: { external_user_id: string; name: string }[] = [];
    void batch(unknown);
  };
  expectTypeOf(calls).returns.toBeVoid();
  expectTypeOf<EventTypes['report_exported']>().toEqualTypeOf<{ pages: number }>();
  expectTypeOf<TrackedEvent<'report_exported'>['properties']>().toEqualTypeOf<{ pages: number }>();
});
