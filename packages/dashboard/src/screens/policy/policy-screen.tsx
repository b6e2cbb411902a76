import { Button, Select, Stack, Text } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useMay, useProject } from '../../api/index.ts';
import { Loaded, Mark, Page, SaveBar } from '../../parts/index.ts';
import { EffectOnQueue, type Simulation, useSimulation } from '../../parts/policy-effect.tsx';
import { CapsField, QuietHoursField, type SettingField, ThrottleField } from '../../parts/policy-fields.tsx';
import { effectWords } from '../../parts/policy-words.ts';
import { Section } from '../../parts/section.tsx';
import { type SettingsForm, useSettingsForm } from '../../parts/settings-form.ts';
import { AutopilotField } from './autopilot-field.tsx';
import { DomainLimits, RateLimits } from './limits.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { PolicySkeleton } from './policy-skeleton.tsx';

/** When letters may leave, and how many: nothing is saved before it was said what it does to those that wait. */
export function PolicyScreen(): ReactNode {
  const { paused } = useProject();
  const [isAsked, setIsAsked] = useState(false);
  const form = useSettingsForm();
  return (
    <Page
      title="Sending policy"
      beside={paused && <Mark icon={Pause} tone="warn" label="Paused: nothing leaves" />}
      actions={
        <Button
          variant="default"
          leftSection={
            paused ? <Play size={15} aria-hidden="true" /> : <Pause size={15} aria-hidden="true" />
          }
          onClick={() => setIsAsked(true)}
        >
          {paused ? 'Send again' : 'Pause sending'}
        </Button>
      }
    >
      <Loaded query={form.query} skeleton={<PolicySkeleton />}>
        {() => <PolicyForm form={form} />}
      </Loaded>
      <PauseDialog opened={isAsked} onClose={() => setIsAsked(false)} />
    </Page>
  );
}

/** Of what changed, what concerns letters that wait: a new deadline is for new drafts alone. */
const SIMULATED = ['quiet_hours', 'frequency_cap', 'throttle', 'time_zone'];

function simulated(changes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(changes).filter(
      ([name, text]) => SIMULATED.includes(name) || (name === 'autopilot' && text === 'draft'),
    ),
  );
}

function PolicyForm({ form }: { form: SettingsForm }): ReactNode {
  const mayChange = useMay('admin');
  const asked = useMemo(() => simulated(form.changes), [form.changes]);
  const simulation = useSimulation(asked);
  const field = (name: string): SettingField => ({
    text: form.text(name),
    onText: (text) => form.set(name, text),
    fault: form.fault(name) ?? simulation.error?.fields?.[name],
    disabled: !mayChange,
  });
  return (
    <Stack gap="lg" maw={860}>
      {!mayChange && <Text c="dimmed">You can look at the policy. Changing it needs the role admin.</Text>}
      <Section title="Quiet hours" text="In each recipient's own time zone, else in that of the project.">
        <QuietHoursField {...field('quiet_hours')} />
        <DefaultQuietHours form={form} />
      </Section>
      <Section
        title="Letters to one person"
        text="Over any rolling time, all rules together. What is held leaves when there is room."
      >
        <CapsField {...field('frequency_cap')} />
      </Section>
      <Section title="Pace" text="So that mailbox providers, and your support, can keep up.">
        <ThrottleField {...field('throttle')} />
      </Section>
      <Section
        title="Time zone of the project"
        text="For those whose own is not known, and for all times on these pages."
      >
        <ZoneField {...field('time_zone')} />
      </Section>
      <Section title="Autopilot" text="What becomes of a draft that nobody looks at.">
        <AutopilotField {...field('autopilot')} />
      </Section>
      <Section title="Who words a letter">
        <DraftingField {...field('drafting')} />
      </Section>
      <EffectOnQueue {...simulation} />
      <SaveBar
        dirty={form.dirty}
        saving={form.saving}
        onSave={form.save}
        onDiscard={form.discard}
        note={noteOf(form.changes, simulation)}
      />
      <Section title="Warm-up and throttle of domains">
        <DomainLimits />
      </Section>
      <Section
        title="Rate limits of the API"
        text="What goes beyond is refused with 429, and told when to come again."
      >
        <RateLimits />
      </Section>
    </Stack>
  );
}

/** Says that the default quiet hours are not in force. */
function DefaultQuietHours({ form }: { form: SettingsForm }): ReactNode {
  const isOff = form.text('quiet_hours') === 'off';
  if (isOff || form.changes['quiet_hours'] !== undefined) return null;
  if (form.query.data?.data.quiet_hours_in_force !== false) return null;
  return (
    <Text size="sm" c="dimmed">
      No relay is set, so the default quiet hours hold no email. Quiet hours that you set yourself do.
    </Text>
  );
}

/** What saving does stands beside the button that does it. */
function noteOf(changes: Record<string, string>, { effect, isAsking }: Simulation): string {
  if (isAsking && !effect) return 'Working out what this does…';
  const { autopilot = 'draft' } = changes;
  return [
    ...(effect ? effectWords(effect) : []),
    ...(autopilot === 'draft' ? [] : ['The new time is for new drafts: open ones keep theirs']),
    ...(effect ? [] : ['Not saved yet']),
  ].join(' · ');
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

function ZoneField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  // A zone may be stored under a name that this browser does not list.
  const zones = ZONES.includes(text) ? ZONES : [text, ...ZONES];
  return (
    <Select
      aria-label="Time zone"
      maw={320}
      searchable
      limit={100}
      data={zones}
      value={text}
      allowDeselect={false}
      disabled={disabled}
      error={fault}
      onChange={(zone) => {
        if (zone !== null) onText(zone);
      }}
    />
  );
}

const DRAFTING = [
  { value: 'template', label: 'Its template' },
  { value: 'model', label: 'A model, after the template' },
];

function DraftingField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  return (
    <Select
      aria-label="Who words a letter"
      description="A model words letters only where this installation has one. What it wrote is checked, and falls back to the template."
      inputWrapperOrder={['input', 'description', 'error']}
      maw={420}
      data={DRAFTING}
      value={text}
      allowDeselect={false}
      disabled={disabled}
      error={fault}
      onChange={(value) => {
        if (value !== null) onText(value);
      }}
    />
  );
}
