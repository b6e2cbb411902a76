import { Group, Input, Stack, Switch, TagsInput, Text } from '@mantine/core';
import { Reply } from 'lucide-react';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { Mark } from '../../parts/index.ts';
import type { SettingField } from '../../parts/policy-fields.tsx';
import { tickProps } from '../../parts/bind.ts';

const OFF = 'off';
const NONE = 'none';

const TRACKED = [
  {
    name: 'opens',
    label: 'Opens',
    description: 'Measured with a small image. Automatic loads are classified as bots.',
  },
  {
    name: 'clicks',
    label: 'Clicks',
    description: 'Links redirect through this installation or the domain’s tracking host.',
  },
];

/** Opens and clicks, set separately. */
export function TrackingField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  const names = text === OFF ? [] : text.split(',');
  const set = (name: string, on: boolean): void => {
    const next = TRACKED.map((kind) => kind.name).filter((kind) =>
      kind === name ? on : names.includes(kind),
    );
    onText(next.join(',') || OFF);
  };
  return (
    <Input.Wrapper error={fault}>
      <Stack gap="xs" mb={4}>
        {TRACKED.map(({ name, label, description }) => (
          <Switch
            key={name}
            label={label}
            description={description}
            disabled={disabled}
            {...tickProps(names.includes(name), (on) => set(name, on))}
          />
        ))}
      </Stack>
    </Input.Wrapper>
  );
}

/** Shows if replies are received, and otherwise the missing setting. */
export function RepliesState({ replies }: { replies: SendingState['replies'] }): ReactNode {
  if (replies.captured) {
    const how = replies.source ? 'from the reply source' : 'and forwarded';
    return (
      <Group>
        <Mark icon={Reply} tone="good" label={`On: replies are received ${how}`} />
      </Group>
    );
  }
  const missing =
    replies.missing === 'mail_domain'
      ? 'This installation receives no email, because MAIL_DOMAIN is not set. Set up a reply source, such as a mailbox. Until then, replies go to the address above and are not recorded.'
      : 'Set a forwarding address, or set up a reply source. Until then, replies go to the address above and are not recorded.';
  return (
    <Group gap="xs">
      <Mark icon={Reply} tone="quiet" label="Off" />
      <Text size="sm">{missing}</Text>
    </Group>
  );
}

/** Adds a token to the Reply-To address, for a mailbox that Beckon reads. */
export function PlusAddressingField({
  text,
  onText,
  fault,
  disabled = false,
  isTooLong,
}: SettingField & { isTooLong: boolean }): ReactNode {
  return (
    <Switch
      label="Plus addressing"
      description={
        isTooLong
          ? 'Not possible: the Reply-To address may have at most 12 characters before the @.'
          : 'Replies go to replies+token@example.com, so that each one names its email. Your mailbox must accept such addresses.'
      }
      error={fault}
      disabled={disabled}
      {...tickProps(text === 'on', (isOn) => onText(isOn ? 'on' : OFF))}
    />
  );
}

/** The members who get the digest of waiting drafts. */
export function TeamField({ text, onText, fault, disabled = false }: SettingField): ReactNode {
  return (
    <TagsInput
      label="Additional recipients"
      description="An email about the first waiting draft, then at most every 15 minutes: waiting drafts, held drafts, problems."
      placeholder="ada@example.com"
      value={text === NONE ? [] : text.split(',')}
      error={fault}
      disabled={disabled}
      splitChars={[',', ' ', ';']}
      onChange={(addresses) => onText(addresses.map((address) => address.trim()).join(',') || NONE)}
    />
  );
}
