import { Button, Select, Stack, Text } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useMay, useProject } from '../../api/index.ts';
import { later, Loaded, Mark, Page, SaveBar, WhenOpened } from '../../parts/index.ts';
import { EffectOnQueue, type Simulation, useSimulation } from '../../parts/policy-effect.tsx';
import { CapsField, QuietHoursField, type SettingField, ThrottleField } from '../../parts/policy-fields.tsx';
import { effectWords } from '../../parts/policy-words.ts';
import { Section } from '../../parts/section.tsx';
import { fieldOf, type SettingsForm, useSettingsForm } from '../../parts/settings-form.ts';
import { AutopilotField } from './autopilot-field.tsx';
import { DomainLimits, RateLimits } from './limits.tsx';
import { PolicySkeleton } from './policy-skeleton.tsx';
import { Muted } from '../../parts/muted.tsx';
import { choiceProps } from '../../parts/bind.ts';

const PauseDialog = later(() => import('./pause-dialog.tsx'), 'PauseDialog', null);

/** When and how many emails are sent. The effect on waiting emails is shown before saving. */
export function PolicyScreen(): ReactNode {
  const { paused } = useProject();
  const mayPause = useMay('admin');
  const [isDialogOpen, setIsDialogOpen] = useState(false);
  const form = useSettingsForm();
  return (
    <Page
      title="Sending policy"
      beside={paused && <Mark icon={Pause} tone="warn" label="Sending paused" />}
      actions={
        <Button
          variant="default"
          disabled={!mayPause}
          title={mayPause ? undefined : 'Requires the admin role'}
          leftSection={
            paused ? <Play size={15} aria-hidden="true" /> : <Pause size={15} aria-hidden="true" />
          }
          onClick={() => setIsDialogOpen(true)}
        >
          {paused ? 'Resume sending' : 'Pause sending'}
        </Button>
      }
    >
      <Loaded query={form.query} skeleton={<PolicySkeleton />}>
        {() => <PolicyForm form={form} />}
      </Loaded>
      <WhenOpened opened={isDialogOpen}>
        <PauseDialog opened={isDialogOpen} onClose={() => setIsDialogOpen(false)} />
      </WhenOpened>
    </Page>
  );
}

/** The changes that affect waiting emails: a new deadline affects only new drafts. */
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
  const simulatedChanges = useMemo(() => simulated(form.changes), [form.changes]);
  const simulation = useSimulation(simulatedChanges);
  const field = (name: string): SettingField => {
    const stored = fieldOf(form, name, !mayChange);
    return { ...stored, fault: stored.fault ?? simulation.error?.fields?.[name] };
  };
  return (
    <Stack gap="lg" maw={860}>
      {!mayChange && <Text c="dimmed">You can view the policy. Changing it requires the admin role.</Text>}
      <Section
        title="Quiet hours"
        text="No email is sent in these hours, in the user’s time zone or else the project’s."
      >
        <QuietHoursField {...field('quiet_hours')} />
        <DefaultQuietHours form={form} />
      </Section>
      <Section
        title="Frequency cap"
        text="The maximum of emails per user in a rolling period, for all rules together. Held emails are sent when the cap allows."
      >
        <CapsField {...field('frequency_cap')} />
      </Section>
      <Section
        title="Throttle"
        text="Limits the sending rate, for mailbox providers and for your support team."
      >
        <ThrottleField {...field('throttle')} />
      </Section>
      <Section
        title="Project time zone"
        text="For users without a time zone, and for all times in the dashboard."
      >
        <ZoneField {...field('time_zone')} />
      </Section>
      <Section title="Autopilot" text="How drafts are sent if no member acts.">
        <AutopilotField {...field('autopilot')} />
      </Section>
      <Section title="Drafting">
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
      <OtherLimits />
    </Stack>
  );
}

/** Limits that are set elsewhere. */
function OtherLimits(): ReactNode {
  return (
    <>
      <Section title="Domain warm-up and throttle">
        <DomainLimits />
      </Section>
      <Section title="API rate limits" text="Requests above the limit get 429 with Retry-After.">
        <RateLimits />
      </Section>
    </>
  );
}

/** Says that the default quiet hours are not in force. */
function DefaultQuietHours({ form }: { form: SettingsForm }): ReactNode {
  const isOff = form.text('quiet_hours') === 'off';
  if (isOff || form.changes['quiet_hours'] !== undefined) return null;
  if (form.query.data?.data.quiet_hours_in_force !== false) return null;
  return (
    <Muted>
      No relay is set, so the default quiet hours hold no email. Quiet hours that you set yourself do.
    </Muted>
  );
}

/** Shows the effect of saving beside the button. */
function noteOf(changes: Record<string, string>, { effect, isLoading }: Simulation): string {
  if (isLoading && !effect) return 'Calculating the effect…';
  const { autopilot = 'draft' } = changes;
  return [
    ...(effect ? effectWords(effect) : []),
    ...(autopilot === 'draft' ? [] : ['Applies to new drafts; open drafts keep their deadline']),
    ...(effect ? [] : ['Unsaved changes']),
  ].join(' · ');
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

function ZoneField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  // The stored zone may have a name that this browser does not list.
  const zones = ZONES.includes(text) ? ZONES : [text, ...ZONES];
  return (
    <Select
      aria-label="Time zone"
      maw={320}
      searchable
      limit={100}
      data={zones}
      disabled={disabled}
      error={fault}
      {...choiceProps(text, onText)}
    />
  );
}

const DRAFTING = [
  { value: 'template', label: 'Template only' },
  { value: 'model', label: 'AI drafting, based on the template' },
];

function DraftingField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  return (
    <Select
      aria-label="Drafting"
      description="AI drafting requires a model in this installation. Its text is checked, and replaced by the template if a check fails."
      inputWrapperOrder={['input', 'description', 'error']}
      maw={420}
      data={DRAFTING}
      disabled={disabled}
      error={fault}
      {...choiceProps(text, onText)}
    />
  );
}
