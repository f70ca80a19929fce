{{- define "beamflame-agent.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "beamflame-agent.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "beamflame-agent.labels" -}}
{{ include "beamflame-agent.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* Addresses that all hosts reach are probed on the loopback. */ -}}
{{- define "beamflame-agent.probe" -}}
{{- $listen := .Values.config.http.listen -}}
{{- $host := regexReplaceAll ":[0-9]+$" $listen "" | trimAll "[]" -}}
host: {{ get (dict "0.0.0.0" "127.0.0.1" "::" "::1") $host | default $host | quote }}
port: {{ regexFind "[0-9]+$" $listen }}
{{- end -}}
