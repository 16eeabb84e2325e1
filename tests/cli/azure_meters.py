#!/usr/bin/env python3
"""Azure's meters of disks, files and bandwidth, one row of a table each: what the list says (product, sku, meter,
unit, price) and the rate that comes of it; meters that sound alike and price something else give none."""
from decimal import Decimal

from little import Box, check, main
from makers import azure, azure_page

HOURS = Decimal(730)  # the vendor's month of what is sold by the hour
FILES, FILES_2, PREMIUM = "Files v2", "Azure Files Provisioned v2", "Premium Files"
V2, ULTRA = "Azure Premium SSD v2", "Ultra Disks"
GB_MONTH, GIB_HOUR, HOUR, TEN_K = "1 GB/Month", "1 GiB/Hour", "1/Hour", "10K"
# product, sku, meter, unit, price: tier, component, rate of one unit of storage, operation or month
STORAGE = [
    (FILES, "Hot LRS", "Hot LRS Data Stored", GB_MONTH, "0.0255", "azure_files_hot_lrs", "storage", "0.0255"),
    (FILES, "Hot ZRS", "Hot ZRS Data Stored", GB_MONTH, "0.0319", "azure_files_hot_zrs", "storage", "0.0319"),
    (FILES, "Hot GRS", "Hot GRS Data Stored", GB_MONTH, "0.0459", "azure_files_hot_grs", "storage", "0.0459"),
    (FILES, "Cool LRS", "Cool LRS Data Stored", GB_MONTH, "0.015", "azure_files_cool_lrs", "storage", "0.015"),
    (FILES, "Cool LRS", "Cool LRS Data Retrieval", "1 GB", "0.01", "azure_files_cool_lrs", "retrieval", "0.01"),
    (FILES, "Hot LRS", "Hot LRS Write Operations", TEN_K, "0.065", "azure_files_hot_lrs", "put", "0.0000065"),
    (FILES, "Hot LRS", "Hot LRS Read Operations", TEN_K, "0.0052", "azure_files_hot_lrs", "get", "0.00000052"),
    (FILES, "Hot LRS", "Hot LRS List Operations", TEN_K, "0.0676", "azure_files_hot_lrs", "list", "0.00000676"),
    (FILES, "Standard LRS", "LRS Data Stored", GB_MONTH, "0.06", "azure_files_transaction_optimized_lrs", "storage", "0.06"),
    (PREMIUM, "Premium LRS", "Premium LRS Provisioned", GB_MONTH, "0.16", "azure_files_premium_lrs", "storage", "0.16"),
    (PREMIUM, "Premium ZRS", "Premium ZRS Provisioned", GB_MONTH, "0.2", "azure_files_premium_zrs", "storage", "0.2"),
    (PREMIUM, "Premium LRS", "Premium LRS Snapshots", GB_MONTH, "0.136", "azure_files_premium_lrs", "snapshot", "0.136"),
    (FILES_2, "SSD LRS", "SSD LRS Provisioned Storage", GIB_HOUR, "0.000137", "azure_files_provisioned_ssd_lrs", "storage", Decimal("0.000137") * HOURS),
    (FILES_2, "HDD LRS", "HDD LRS Provisioned IOPS", HOUR, "0.000055", "azure_files_provisioned_hdd_lrs", "provisioned_iops", Decimal("0.000055") * HOURS),
    (FILES_2, "HDD LRS", "HDD LRS Provisioned Throughput MiBPS", HOUR, "0.0001", "azure_files_provisioned_hdd_lrs", "throughput", Decimal("0.0001") * HOURS),
    (V2, "Premium LRS", "Premium LRS Provisioned Capacity", GIB_HOUR, "0.000111", "azure_disk_premium_v2", "storage", Decimal("0.000111") * HOURS),
    (V2, "Premium LRS", "Premium LRS Provisioned IOPS", HOUR, "0.0000071", "azure_disk_premium_v2", "provisioned_iops", Decimal("0.0000071") * HOURS),
    (V2, "Premium LRS", "Premium LRS Provisioned Throughput (MBps)", HOUR, "0.000056", "azure_disk_premium_v2", "throughput", Decimal("0.000056") * HOURS),
    (ULTRA, "Ultra LRS", "Ultra LRS Provisioned Capacity", GIB_HOUR, "0.000164", "azure_disk_ultra", "storage", Decimal("0.000164") * HOURS),
    (ULTRA, "Ultra LRS", "Ultra LRS Provisioned IOPS", HOUR, "0.000068", "azure_disk_ultra", "provisioned_iops", Decimal("0.000068") * HOURS),
    ("Premium SSD Managed Disks", "P10 LRS", "P10 LRS Disk", "1/Month", "19.71", "azure_disk_premium", "storage", "19.71"),
    ("Premium SSD Managed Disks", "P10 ZRS", "P10 ZRS Disk", "1/Month", "29.57", "azure_disk_premium_zrs", "storage", "29.57"),
    ("Standard SSD Managed Disks", "E10 LRS", "E10 LRS Disk", "1/Month", "9.6", "azure_disk_standard_ssd", "storage", "9.6"),
    ("Standard HDD Managed Disks", "S4 LRS", "S4 Disks", "1/Month", "1.54", "azure_disk_standard_hdd", "storage", "1.54"),
    ("Standard HDD Managed Disks", "Snapshots LRS", "LRS Snapshots", GB_MONTH, "0.05", "azure_disk_standard_hdd", "snapshot", "0.05"),
]
# what is sold beside these, under names that begin or end alike
OTHERS = [
    (FILES, "Hot LRS", "Hot LRS Metadata", GB_MONTH, "0.99"), (FILES, "Hot RA-GRS", "Hot RA-GRS Data Stored", GB_MONTH, "0.99"),
    ("Azure File Sync", "Standard", "Standard Server Node", "1/Month", "5"), ("Files", "LRS", "LRS Data Stored", GB_MONTH, "0.99"),
    ("Premium SSD Managed Disks", "P10 LRS", "P10 LRS Disk Mount", "1/Month", "1.99"), ("Premium SSD Managed Disks", "P11 LRS", "P11 LRS Disk", "1/Month", "9"),
    ("Premium SSD Managed Disks", "P10 LRS", "P10 LRS Burst Enablement", "1/Month", "9"), ("Standard SSD Managed Disks", "E10 LRS", "Disk Operations", TEN_K, "0.002"),
    (V2, "Premium ZRS", "Premium ZRS Provisioned Capacity", GIB_HOUR, "0.99"), (ULTRA, "Ultra LRS", "Ultra LRS Reservation per vCPU Provisioned", HOUR, "0.99"),
    ("Standard Page Blob", "LRS", "LRS Data Stored", GB_MONTH, "0.99"), ("Queues v2", "Standard LRS", "LRS Data Stored", GB_MONTH, "0.99"),
]


def item(product, sku, meter, unit, price, service="Storage", least=0.0):
    return azure("x", float(price), productName=product, skuName=sku, meterName=meter, armSkuName="", serviceName=service, serviceFamily=service,
                 unitOfMeasure=unit, tierMinimumUnits=float(least))


def rates(rows):
    box = Box()
    r = box.take("azure-retail", [azure_page(rows)])
    return box, r


def disks_and_files():
    box, _ = rates([item(*r[:5]) for r in STORAGE] + [item(*r) for r in OTHERS])
    found = {(x["tier"], x["component"], Decimal(x["rate"]) / Decimal(x.get("unit_qty") or 1)) for x in box.json("prices", "storage")["rates"]}
    wanted = {(r[5], r[6], Decimal(r[7])) for r in STORAGE}
    check("rates of disks and files", found ^ wanted, set())


def one_by_one():
    """None of them rests on another of the list."""
    for r in STORAGE:
        box, _ = rates([item(*r[:5])])
        check(r[2], {(x["tier"], x["component"]) for x in box.json("prices", "storage")["rates"]}, {(r[5], r[6])})


def bandwidth():
    def out(meter, price, least=0, product="Rtn Preference: MGN", sku="Standard"):
        return item(product, sku, meter, "1 GB", price, "Bandwidth", least)
    box, _ = rates([out("Standard Data Transfer Out", "0", 0), out("Standard Data Transfer Out", "0.087", 100),
                    out("Standard Data Transfer Out", "0.083", 10335), out("Standard Data Transfer In", "0"),
                    out("Intra Continent Data Transfer Out", "0.02", product="Bandwidth - Inter-Region", sku="Intra Continent"),
                    out("Inter Continent Data Transfer Out - Asia To Any", "0.05", product="Bandwidth - Inter-Region", sku="Asia To Any"),
                    out("Standard Data Transfer Out", "0.04", product="Bandwidth - Routing Preference: Internet"),
                    out("Standard Peering Data Transfer Out", "0.99"), out("CDN Data Transfer Out", "0.99")])
    found = sorted((x["to"], Decimal(x["from_qty"]), x["to_qty"] and Decimal(x["to_qty"]), Decimal(x["rate"])) for x in box.json("prices", "transfer")["rates"])
    check("bandwidth", found, sorted([("internet", 0, 100, Decimal("0")), ("internet", 100, 10335, Decimal("0.087")), ("internet", 10335, None, Decimal("0.083")),
                                      ("other_region_same_continent", 0, None, Decimal("0.02")), ("other_continent", 0, None, Decimal("0.05")),
                                      ("internet by its providers", 0, None, Decimal("0.04"))]))


main([disks_and_files, one_by_one, bandwidth])
