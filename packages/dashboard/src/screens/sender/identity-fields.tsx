import { Textarea, TextInput } from '@mantine/core';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import type { SettingField } from '../../parts/policy-fields.tsx';

const NONE = 'none';

type Props = SettingField & {
  label: string;
  description?: ReactNode;
  placeholder?: string;
  isLong?: boolean;
};

/** A one-line text; an empty text is no value. */
export function LineField({ label, description, placeholder, isLong = false, ...field }: Props): ReactNode {
  const { text, onText, fault, disabled = false } = field;
  const Field = isLong ? Textarea : TextInput;
  return (
    <Field
      label={label}
      description={description}
      placeholder={placeholder ?? ''}
      value={text === NONE ? '' : text}
      error={fault}
      disabled={disabled}
      onChange={({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
        const line = value.replaceAll(/[\r\n]+/g, ' ');
        onText(line === '' ? NONE : line);
      }}
    />
  );
}

/** The state of the address's domain. */
export function addressHint(address: string, domains: SendingState['domains']): string {
  const host = address.split('@').at(1)?.toLowerCase() ?? '';
  if (host === '') return 'An address at an added domain or its subdomain: news@mail.example.com';
  const domain = domains.find(({ name }) => host === name || host.endsWith(`.${name}`));
  if (!domain)
    return `${host} was not added in Settings → Project → Domains. With a relay, its emails are held.`;
  if (domain.paused !== null) return `${domain.name} is paused: ${domain.paused}`;
  if (domain.state === 'verified') return `${domain.name} is verified`;
  if (domain.state === 'degraded')
    return `${domain.name} can send, but the last check found a wrong DNS record`;
  return `${domain.name} is not verified. With a relay, its emails are held.`;
}
