import { Paper, SimpleGrid, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../../api/index.ts';
import { SaveBar } from '../../parts/index.ts';
import { EffectOnQueue, type Simulation } from '../../parts/policy-effect.tsx';
import { CapsField, QuietHoursField, type SettingField, ThrottleField } from '../../parts/policy-fields.tsx';
import type { SettingsForm } from '../../parts/settings-form.ts';
import { Muted } from '../../parts/muted.tsx';

/** Tests another policy on the waiting emails. The policy changes only when it is saved. */
export function Simulator({ form, simulation }: { form: SettingsForm; simulation: Simulation }): ReactNode {
  const maySave = useMay('admin');
  const field = (name: string): SettingField => ({
    text: form.text(name),
    onText: (text) => form.set(name, text),
    fault: form.fault(name) ?? simulation.error?.fields[name],
  });
  return (
    <Paper withBorder p="md" component="section" aria-label="Test another policy">
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="lg">
          <Try title="Quiet hours">
            <QuietHoursField {...field('quiet_hours')} />
          </Try>
          <Try title="Frequency cap">
            <CapsField {...field('frequency_cap')} />
          </Try>
          <Try title="Throttle">
            <ThrottleField {...field('throttle')} />
          </Try>
        </SimpleGrid>
        {form.dirty ? (
          <EffectOnQueue {...simulation} />
        ) : (
          <Muted>Change a setting: the dashed bars show the send times before you save.</Muted>
        )}
        {!maySave && <Muted>Testing changes nothing. Saving requires the admin role.</Muted>}
        <SaveBar
          dirty={form.dirty && maySave}
          saving={form.saving}
          onSave={form.save}
          onDiscard={form.discard}
          label="Save policy"
          note="Not saved: emails follow the saved policy"
        />
      </Stack>
    </Paper>
  );
}

function Try({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <Title order={2} size="h6" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  );
}
