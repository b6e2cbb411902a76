import type { RelayField } from '@beckon/contract/dashboard';
import { NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core';
import type { ChangeEvent, ReactNode } from 'react';

type Props = {
  fields: RelayField[];
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
  errors: Record<string, string>;
  /** Secrets that are stored already may be left empty. */
  keepsSecrets?: boolean;
};

/** The fields of a relay or a reply source. Secrets are typed again to replace them, and never shown. */
export function ConnectionFields({
  fields,
  values,
  onChange,
  errors,
  keepsSecrets = false,
}: Props): ReactNode {
  return (
    <Stack gap="md">
      {fields.filter(isChoice).map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          error={errors[field.name]}
          keepsSecrets={keepsSecrets}
          onType={(value) => onChange({ ...values, [field.name]: value })}
        />
      ))}
    </Stack>
  );
}

/** A field with one possible value is not shown. */
function isChoice({ values }: RelayField): boolean {
  return values?.length !== 1;
}

type FieldProps = {
  field: RelayField;
  value: string;
  error: string | undefined;
  keepsSecrets: boolean;
  onType: (value: string) => void;
};

function Field({ field, value, error, keepsSecrets, onType }: FieldProps): ReactNode {
  const { name, label, secret, required, hint, values } = field;
  const common = {
    label: required || values !== null ? label : `${label} (optional)`,
    ...(hint === null ? {} : { description: hint }),
    error,
    value,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>): void =>
      onType(event.currentTarget.value),
    name: `connection_${name}`,
    autoComplete: 'off',
  };
  if (values !== null) return <NativeSelect {...common} data={values} value={value || (values[0] ?? '')} />;
  if (secret)
    return (
      <PasswordInput
        {...common}
        autoComplete="new-password"
        placeholder={keepsSecrets ? 'Leave empty to keep the stored value' : ''}
      />
    );
  return <TextInput {...common} spellCheck={false} autoCapitalize="none" />;
}
