"""GPU models, names, counts: gpu_models.csv, gpu_aliases.csv, instance_types.csv.

An instance type's GPU comes from the type itself (family, size), never from the word a catalogue
prints: catalogues say "A100" for 40 and 80 GB, "H100" for PCIe, NVL and SXM.
"""
import re
from fractions import Fraction

FORMS = ('PCIe', 'SXM2', 'SXM4', 'SXM', 'NVL')
SPEC_COLUMNS = {'fp64_tflops': 'fp64_tflops', 'fp32_tflops': 'fp32_tflops',
                'tf32_tflops': 'tf32_tensor_dense', 'fp16_tflops': 'fp16_tensor_dense',
                'bf16_tflops': 'bf16_tensor_dense', 'fp8_tflops': 'fp8_dense',
                'int8_tops': 'int8_tops_dense', 'mem_gb': 'mem_gb',
                'bandwidth_gbs': 'bandwidth_gbs', 'l2_mb': 'l2_mb',
                'nvlink_gbs': 'nvlink_gbs_total', 'pcie': 'pcie', 'tdp_w': 'tdp_w',
                'mig_slices': 'mig_slices', 'launch_year': 'launch_year'}
FRACTIONS = {'0.167': Fraction(1, 6), '0.333': Fraction(1, 3)}

# Families that gpu-instances.csv lacks: type prefix -> model (vendor's word when not in the table).
AWS_FAMILIES = {'p2': 'K80', 'p3': 'V100-16GB SXM2', 'p3dn': 'V100-32GB SXM2',
                'p4d': 'A100-40GB SXM4', 'p4de': 'A100-80GB SXM4', 'p5': 'H100 SXM',
                'p5e': 'H200 SXM', 'p5en': 'H200 SXM', 'g2': 'GRID K520', 'g3': 'M60',
                'g3s': 'M60', 'g4dn': 'T4', 'g4ad': 'Radeon Pro V520', 'g5': 'A10G', 'g5g': 'T4G',
                'g6': 'L4', 'gr6': 'L4', 'g6e': 'L40S', 'dl1': 'Gaudi'}
AWS_COUNTS = {'g2.2xlarge': 1, 'g2.8xlarge': 4, 'dl1.24xlarge': 8}
AZURE_EXTRA = {'Standard_ND96is_H100_v5': ('H100 SXM', 8), 'Standard_ND96isf_H100_v5': ('H100 SXM', 8),
               'Standard_ND96isrf_H100_v5': ('H100 SXM', 8),
               'Standard_ND96is_MI300X_v5': ('MI300X', 8),
               'Standard_ND96ams_A100_v4': ('A100-80GB SXM4', 8),
               'Standard_NV6s_v2': ('M60', 1), 'Standard_NV12s_v2': ('M60', 2),
               'Standard_NV24s_v2': ('M60', 4)}
# GPUs without a sheet: one spelling, and the memory that their vendors state.
OTHERS = {'RTX 5880': 'RTX 5880 Ada'}
MEMORY_OF_OTHERS = {'L20': 48, 'RTX 5880 Ada': 48, 'GB300': 288, 'RTX PRO 6000 WS': 96, 'GRID K520': 4, 'M40': 24}
# Words that mean one part whoever says them. A word that several parts answer to stands below, with the vendor.
ALIASES = [
    ('GRID K80', 'K80'), ('Tesla K80', 'K80'), ('Tesla M60', 'M60'), ('Tesla P4', 'P4'), ('Tesla P40', 'P40'),
    ('Tesla T4', 'T4'), ('NVIDIA T4', 'T4'), ('NVIDIA T4 Tensor Core', 'T4'), ('T4g', 'T4G'), ('NVIDIA A10', 'A10'),
    ('NVIDIA A10G', 'A10G'), ('NVIDIA L4', 'L4'), ('NVIDIA L40S', 'L40S'), ('NVIDIA L40', 'L40'), ('NVIDIA A40', 'A40'),
    ('NVIDIA A30', 'A30'), ('A6000', 'RTX A6000'), ('RTXA6000', 'RTX A6000'), ('RTXA5000', 'RTX A5000'),
    ('RTXA4000', 'RTX A4000'), ('RTX6000-Ada', 'RTX 6000 Ada'), ('RTX6000Ada', 'RTX 6000 Ada'),
    ('RTX3090', 'RTX 3090'), ('RTX4090', 'RTX 4090'), ('RTX5090', 'RTX 5090'), ('RTX2080Ti', 'RTX 2080 Ti'),
    ('Tesla V100-SXM2-16GB', 'V100-16GB SXM2'), ('Tesla V100-SXM2-32GB', 'V100-32GB SXM2'),
    ('Tesla V100-PCIE-16GB', 'V100-16GB PCIe'), ('Tesla V100-PCIE-32GB', 'V100-32GB PCIe'),
    ('Tesla P100-PCIE-16GB', 'P100-16GB PCIe'), ('Tesla P100-SXM2-16GB', 'P100-16GB SXM2'),
    ('NVIDIA A100-SXM4-40GB', 'A100-40GB SXM4'), ('NVIDIA A100-SXM4-80GB', 'A100-80GB SXM4'),
    ('NVIDIA A100-PCIE-40GB', 'A100-40GB PCIe'), ('NVIDIA A100 80GB PCIe', 'A100-80GB PCIe'),
    ('NVIDIA H100 PCIe', 'H100 PCIe'), ('NVIDIA H100 80GB HBM3', 'H100 SXM'), ('NVIDIA H100 NVL', 'H100 NVL'),
    ('H100-MEGA', 'H100 SXM'), ('NVIDIA H200', 'H200 SXM'), ('H200', 'H200 SXM'), ('NVIDIA B200', 'B200'),
    ('NVIDIA B300', 'B300'), ('NVIDIA GH200 480GB', 'GH200'), ('AMD Instinct MI300X OAM', 'MI300X'),
    ('AMD Instinct MI210', 'MI210'), ('Gaudi HL-205', 'Gaudi'), ('Inferentia', 'Inferentia1'), ('Trainium', 'Trainium1'),
]
# What one vendor means by a word, where gpu-instances.csv shows that it sells one such part: vendor, word, model, and
# the memory of one GPU where that tells two apart. Elsewhere the word stays what it is, and its offers are listed.
VENDOR_ALIASES = [
    ('alibaba', 'V100-16GB', 'V100-16GB SXM2', ''), ('alibaba', 'V100-32GB', 'V100-32GB SXM2', ''),
    ('alibaba', 'A100-80GB', 'A100-80GB SXM4', ''), ('alibaba', 'P100', 'P100-16GB PCIe', ''),
    ('aws', 'A100', 'A100-40GB SXM4', '40'), ('aws', 'A100', 'A100-80GB SXM4', '80'),
    ('aws', 'A100-80GB', 'A100-80GB SXM4', ''), ('aws', 'H100', 'H100 SXM', ''), ('aws', 'V100', 'V100-16GB SXM2', '16'),
    ('aws', 'V100', 'V100-32GB SXM2', '32'), ('aws', 'V100-32GB', 'V100-32GB SXM2', ''),
    ('gcp', 'A100', 'A100-40GB SXM4', ''), ('gcp', 'A100-80GB', 'A100-80GB SXM4', ''), ('gcp', 'H100', 'H100 SXM', ''),
    ('gcp', 'V100', 'V100-16GB SXM2', ''), ('gcp', 'P100', 'P100-16GB PCIe', ''),
    ('lambda', 'RTX 6000', 'Quadro RTX 6000', ''), ('nebius', 'H100', 'H100 SXM', ''),
    ('oci', 'A100', 'A100-40GB SXM4', '40'), ('oci', 'A100-80GB', 'A100-80GB SXM4', ''), ('oci', 'H100', 'H100 SXM', ''),
    ('oci', 'V100', 'V100-16GB SXM2', ''), ('oci', 'P100', 'P100-16GB PCIe', ''),
    ('oci', 'RTX PRO 6000', 'RTX PRO 6000 BSE', ''),
    ('runpod', 'A100-80GB', 'A100-80GB PCIe', ''), ('runpod', 'A100-80GB-SXM', 'A100-80GB SXM4', ''),
    ('tencent', 'V100-32GB', 'V100-32GB SXM2', ''), ('tencent', 'A100-40GB', 'A100-40GB SXM4', ''),
]


def form_of(model):
    last = model.rsplit(' ', 1)[-1]
    return last if last in FORMS else ''


def fraction(text):
    """Count as an exact fraction; the two thirds-based figures are printed rounded."""
    return FRACTIONS.get(text) or Fraction(text)


class Gpus:
    def __init__(self, facts, sources):
        self.facts = facts
        self.sources = sources
        self.specs = {}
        for r in facts.rows('docs/gpu-specs.csv'):
            self.specs[r['model']] = r
        self.types = {}
        for r in facts.rows('docs/gpu-instances.csv'):
            self.types[(r['cloud'], r['instance_type'])] = r

    def models(self):
        out = []
        for name, r in self.specs.items():
            row = {'model': name, 'maker': r['vendor'], 'arch': r['arch'], 'form': form_of(name),
                   'note': r['note'], 'source': r['source'] or 'from memory, unverified'}
            cc = r['compute_capability']
            row['compute_capability'] = cc if re.fullmatch(r'\d+(\.\d+)?', cc) else ''
            if cc and not row['compute_capability']:
                row['note'] = (cc + '; ' + r['note']).rstrip('; ')
            for col, src in SPEC_COLUMNS.items():
                row[col] = r[src]
            if r['fp16_acc32_factor'] == '0.5':
                row['note'] += '; FP32 accumulate runs at half the FP16-accumulate rate'
            out.append(row)
        return out

    def aliases(self):
        rows = [{'vendor': '', 'alias': a, 'model': m, 'memory_gib': ''} for a, m in ALIASES]
        rows += [{'vendor': v, 'alias': a, 'model': m, 'memory_gib': g} for v, a, m, g in VENDOR_ALIASES]
        return sorted(rows, key=lambda r: (r['vendor'], r['alias'], r['memory_gib']))

    def meant(self, vendor, word, memory_gib):
        """The model of a word that the importer left open, as the program looks it up; else the word."""
        if word in self.specs:
            return word
        for v, alias, model, g in sorted(VENDOR_ALIASES, key=lambda r: r[3] == ''):
            if (v, alias) == (vendor, word) and (not g or (memory_gib and abs(float(memory_gib) / float(g) - 1) <= 0.08)):
                return model
        return dict(ALIASES).get(word, word)

    def memory(self, model, count):
        """Nominal memory of one GPU, of the slice for a fraction: one figure for all vendors."""
        spec = self.specs.get(model)
        mem = spec['mem_gb'] if spec else str(MEMORY_OF_OTHERS.get(model, ''))
        if not mem:
            return ''
        value = Fraction(mem) * min(Fraction(1), count)
        return f'{float(value):.6g}'

    def lookup(self, vendor, itype, word='', count=''):
        """(model, count) of a type; None when no source gives the count."""
        cloud = 'aws' if vendor == 'aws-cn' else vendor
        r = self.types.get((cloud, itype))
        if r:
            return r['gpu_model'], fraction(r['gpu_count'])
        if cloud == 'aws':
            family = itype.split('.')[0]
            if family in AWS_FAMILIES and (count or itype in AWS_COUNTS):
                return AWS_FAMILIES[family], fraction(str(count or AWS_COUNTS[itype]))
            return None
        if cloud == 'azure' and itype in AZURE_EXTRA:
            model, n = AZURE_EXTRA[itype]
            return model, Fraction(n)
        if word and count:
            return OTHERS.get(word) or self.meant(vendor, word, ''), fraction(count)
        return None
